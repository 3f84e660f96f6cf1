package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/internal/id"
)

// A Tool runs one call. Its context ends when the batch is lost to another
// holder. What it returns is the call's result; an error is one too.
type Tool func(ctx context.Context, r *Running) ([]byte, error)

// RunBatch awaits a batch, runs what was allowed in order, and returns the
// results once all of them are durable. When it returns an error nothing may go
// on: somebody else runs the batch, or the next attempt will. ErrFinished means
// that an earlier attempt ran it to the end: Results has what came of it.
func RunBatch(ctx context.Context, svc Service, batchID string, h Hold, tool Tool) ([]Result, error) {
	h.Consume = false
	b, err := svc.Await(ctx, batchID, h)
	if err != nil {
		return nil, err
	}
	if !b.Finished.IsZero() {
		return svc.Finish(ctx, Finish{Batch: b.ID, Fence: b.Opened.Fence})
	}
	r := &runner{svc: svc, hold: h, batch: b, turn: make(chan struct{}, 1)}
	for _, c := range b.phase(1) {
		if c.State != Allowed || c.Consumed != nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := r.run(ctx, c, tool); err != nil {
			return nil, err
		}
	}
	return svc.Finish(ctx, Finish{Batch: b.ID, Fence: r.batch.Opened.Fence, Abandon: b.orphans()})
}

// orphans reports whether there are allows that only a call needed that ran in
// an attempt that is over: nobody will ever use them.
func (b *Batch) orphans() bool {
	for _, c := range b.Calls {
		if c.Phase > 1 && c.permit() {
			return true
		}
	}
	return false
}

// runner is one attempt at a batch.
type runner struct {
	svc   Service
	hold  Hold
	batch *Batch // as it was last awaited
	// turn is held while the fence changes or a lease is renewed with it.
	turn chan struct{}
}

// Running is a call that runs.
type Running struct {
	*Call
	runner *runner
	needed []*Call
}

// Need asks for more permissions while the call runs, and returns how they were
// settled. The batch waits meanwhile (D7).
func (r *Running) Need(ctx context.Context, calls ...ProposedCall) ([]*Call, error) {
	a := r.runner
	b, err := a.extend(ctx, calls)
	if err != nil {
		return nil, err
	}
	got := b.phase(b.Phase)
	for _, c := range got {
		if c.State != Allowed {
			continue
		}
		if _, err := a.consume(ctx, c); err != nil {
			return nil, err
		}
		r.needed = append(r.needed, c)
	}
	return got, nil
}

// extend waits for the next phase. No lease has to be renewed meanwhile: it
// begins anew when the last call is settled.
func (a *runner) extend(ctx context.Context, calls []ProposedCall) (*Batch, error) {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	if _, err := a.svc.Extend(ctx, a.batch.ID, a.batch.Opened.Fence, calls); err != nil {
		return nil, err
	}
	b, err := a.svc.Await(ctx, a.batch.ID, a.hold)
	if err == nil {
		a.batch = b
	}
	return b, err
}

func (a *runner) renew(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-a.turn }()
	return a.svc.Renew(ctx, a.batch.ID, a.batch.Opened.Fence)
}

func (a *runner) consume(ctx context.Context, c *Call) (*Call, error) {
	return a.svc.Consume(ctx, Take{Batch: a.batch.ID, Call: c.ID, Fence: a.batch.Opened.Fence, Digest: c.Digest, Nonce: id.New("use")})
}

// cut is the end of a result that is too long to be kept.
const cut = "\n(the rest was cut)"

// reportTime is how long a result may take to be kept.
const reportTime = 30 * time.Second

func (a *runner) run(ctx context.Context, c *Call, tool Tool) error {
	got, err := a.consume(ctx, c)
	switch {
	case errors.Is(err, ErrSettled): // taken back meanwhile: its answer is the result
		return nil
	case err != nil:
		return err
	}
	r := &Running{Call: got, runner: a}
	out, failure := a.keeping(ctx, r, tool)
	if ctx.Err() != nil && failure != nil { // it was cut off: nobody knows how far it came
		return context.Cause(ctx)
	}
	if failure != nil && out == nil {
		out = []byte(failure.Error())
	}
	if len(out) > MaxResult {
		out = append(out[:MaxResult-len(cut):MaxResult-len(cut)], cut...)
	}
	// What ran to its end is reported, also when the agent is asked to stop.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer stop()
	for _, c := range append(r.needed, r.Call) {
		report := Report{Batch: a.batch.ID, Call: c.ID, Fence: a.batch.Opened.Fence, OK: failure == nil}
		if c == r.Call {
			report.Result = out
		}
		if err := a.svc.Report(ctx, report); err != nil {
			return err
		}
	}
	return nil
}

// keeping runs the tool and renews the lease as long as that takes.
func (a *runner) keeping(ctx context.Context, r *Running, tool Tool) (out []byte, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	lease := a.hold.Lease
	if lease == 0 {
		lease = DefaultLease
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := a.renew(ctx); errors.Is(err, ErrFenced) {
				stop(err)
			}
		}
	}()
	defer func() {
		stop(nil)
		<-ended
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool failed: %v", p)
		}
	}()
	return tool(ctx, r)
}

package client

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
)

// A Patient client outlives its gateway: once it has met one, it asks until
// its context ends, through crashes and restarts. A gateway that was never met
// gets Grace to appear, so that nobody waits for one that is not there.
type Patient struct {
	*Client
	Grace time.Duration
	Start func() error // tries to start a gateway; may be nil
	// Limit is how long one that was met may be away; 0 is for ever.
	Limit time.Duration
	Back  func() // told when one is met again; may be nil
	met   atomic.Bool
}

var _ gatelatch.Service = (*Patient)(nil)

// Propose implements gatelatch.Service.
func (p *Patient) Propose(ctx context.Context, q gatelatch.Proposal) (b *gatelatch.Batch, err error) {
	err = p.until(ctx, func() error { b, err = p.Client.Propose(ctx, q); return err })
	return b, err
}

// Await implements gatelatch.Service.
func (p *Patient) Await(ctx context.Context, batchID string, h gatelatch.Hold) (b *gatelatch.Batch, err error) {
	err = p.until(ctx, func() error { b, err = p.Client.Await(ctx, batchID, h); return err })
	return b, err
}

// Consume implements gatelatch.Holder.
func (p *Patient) Consume(ctx context.Context, t gatelatch.Take) (c *gatelatch.Call, err error) {
	err = p.until(ctx, func() error { c, err = p.Client.Consume(ctx, t); return err })
	return c, err
}

// Report implements gatelatch.Service: a call that ran must not become unknown
// because the gateway starts again.
func (p *Patient) Report(ctx context.Context, r gatelatch.Report) error {
	return p.until(ctx, func() error { return p.Client.Report(ctx, r) })
}

// Renew implements gatelatch.Holder.
func (p *Patient) Renew(ctx context.Context, batchID string, fence int64) error {
	return p.until(ctx, func() error { return p.Client.Renew(ctx, batchID, fence) })
}

// Results implements gatelatch.Holder.
func (p *Patient) Results(ctx context.Context, batchID string) (rs []gatelatch.Result, err error) {
	err = p.until(ctx, func() error { rs, err = p.Client.Results(ctx, batchID); return err })
	return rs, err
}

// Extend implements gatelatch.Holder.
func (p *Patient) Extend(ctx context.Context, batchID string, fence int64, calls []gatelatch.ProposedCall) (b *gatelatch.Batch, err error) {
	err = p.until(ctx, func() error { b, err = p.Client.Extend(ctx, batchID, fence, calls); return err })
	return b, err
}

// Finish implements gatelatch.Holder.
func (p *Patient) Finish(ctx context.Context, f gatelatch.Finish) (rs []gatelatch.Result, err error) {
	err = p.until(ctx, func() error { rs, err = p.Client.Finish(ctx, f); return err })
	return rs, err
}

// answersWithin is how long a try takes at most if no gateway is there.
const answersWithin = 5 * time.Second

func (p *Patient) until(ctx context.Context, try func() error) error {
	var wait Backoff
	var away time.Time
	started := false
	for {
		tried := time.Now()
		err := try()
		switch {
		case err == nil:
			if p.met.Swap(true) && !away.IsZero() && p.Back != nil {
				p.Back()
			}
			return nil
		case !Again(err):
			return err
		}
		if p.Start != nil && !started && errors.Is(err, ErrUnreachable) {
			started = true
			if e := p.Start(); e != nil {
				return errors.Join(err, e)
			}
		}
		if away.IsZero() || time.Since(tried) > answersWithin {
			away = time.Now() // it was there until now
		}
		met, since := p.met.Load(), time.Since(away)
		if !met && since > p.Grace || met && p.Limit > 0 && since > p.Limit {
			return err
		}
		if wait.Wait(ctx) != nil {
			return context.Cause(ctx)
		}
	}
}

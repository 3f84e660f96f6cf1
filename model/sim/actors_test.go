package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
)

// agent proposes batches and runs them, again and again until each is finished.
// It may crash at any time; then it begins anew, knowing only what it asked.
func (w *world) agent(i int) {
	who := gatelatch.Actor{Kind: gatelatch.AgentActor, ID: fmt.Sprint("key_", i)}
	ctx := w.with(w.ctx, who.ID)
	d := diceOf(ctx)
	for m := range 3 {
		a := &attempts{world: w, who: who, dice: d, proposal: propose(d, fmt.Sprint("m", m))}
		for ctx.Err() == nil && !a.once(ctx) {
			sleep(ctx, d.upTo(10*time.Second))
		}
		if ctx.Err() != nil {
			w.t.Errorf("agent %d never came to an end with %s: %v", i, a.proposal.Message, a.last)
			return
		}
	}
}

func propose(d *dice, message string) gatelatch.Proposal {
	p := gatelatch.Proposal{Session: gatelatch.SessionInfo{ID: "s", Project: "/p"}, Message: message}
	if d.chance(2) {
		p.Limit = d.upTo(10*time.Minute) + time.Second
	}
	for i := range 1 + d.IntN(3) {
		p.Calls = append(p.Calls, call(d, fmt.Sprint(message, "_", i)))
	}
	return p
}

func call(d *dice, ref string) gatelatch.ProposedCall {
	tools := []string{"plain", "plain", "ask", "allow", "brief", "deny"}
	return gatelatch.ProposedCall{Ref: ref, Kind: gatelatch.Permission, Tool: tools[d.IntN(len(tools))], Input: fmt.Appendf(nil, `"%c"`, 'a'+d.IntN(2)), Dir: "/p"}
}

// attempts are those at one message.
type attempts struct {
	*world
	who      gatelatch.Actor
	dice     *dice
	proposal gatelatch.Proposal
	seat     *slow
	holder   string
	batch    string
	n        int
	last     error
}

// once is one attempt. It reports whether the batch is finished.
func (a *attempts) once(ctx context.Context) bool {
	ctx, crash := context.WithCancel(ctx)
	defer crash()
	if !a.calmed() && a.dice.chance(2) {
		timer := time.AfterFunc(a.dice.upTo(5*time.Minute), func() { a.saw("an agent crashed"); crash() })
		defer timer.Stop()
	}
	n := a.node(a.dice)
	ctx, done := n.in(ctx)
	defer done()
	a.seat = &slow{Seat: n.gate.As(a.who), attempts: a}
	b, err := a.seat.Propose(ctx, a.proposal)
	if err != nil {
		a.failed(ctx, err)
		return false
	}
	if a.n++; a.holder == "" || a.dice.chance(2) {
		a.holder = fmt.Sprint("holder", a.n)
	}
	a.batch = b.ID
	hold := gatelatch.Hold{Holder: a.holder, Lease: 10*time.Second + a.dice.upTo(time.Minute)}
	results, err := gatelatch.RunBatch(ctx, a.seat, b.ID, hold, a.tool)
	if errors.Is(err, gatelatch.ErrFinished) { // by an attempt that did not hear of it
		a.saw("found it finished")
		results, err = a.seat.Results(ctx, b.ID)
	}
	if err != nil {
		a.failed(ctx, err)
		return false
	}
	for i, r := range results {
		if r.State == gatelatch.Pending || r.State == gatelatch.Allowed && r.Outcome == "" {
			a.t.Errorf("finished, but result %d is %s %q", i, r.State, r.Outcome)
		}
	}
	return true
}

// failed keeps the error that an attempt ended with, unless it was cut off.
func (a *attempts) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		a.last = err
	}
}

// tool runs a call. Whatever happens then, it has run.
func (a *attempts) tool(ctx context.Context, r *gatelatch.Running) ([]byte, error) {
	a.run(r.Call)
	if a.dice.chance(4) { // a program that has gone wrong
		_, err := a.seat.Consume(ctx, gatelatch.Take{Batch: a.batch, Call: r.ID, Fence: r.Consumed.Fence, Digest: r.Digest, Nonce: "again"})
		if err == nil {
			a.t.Errorf("call %s was consumed twice (I5)", r.ID)
		}
	}
	if a.dice.chance(3) && len(r.Ref) < 8 {
		needed, err := r.Need(ctx, call(a.dice, fmt.Sprintf("%s_need%d", r.Ref, a.n)))
		if err != nil {
			return nil, err
		}
		a.saw("needed more")
		for _, c := range needed {
			if c.State == gatelatch.Allowed {
				a.run(c)
			}
		}
	}
	if !sleep(ctx, a.dice.upTo(2*time.Minute)) {
		a.cutOff(context.Cause(ctx), r.Call)
		return nil, context.Cause(ctx)
	}
	if a.dice.chance(4) {
		return nil, errors.New("the tool failed")
	}
	return []byte("result of " + r.Ref), nil
}

// cutOff checks that a tool was told to stop for a reason.
func (a *attempts) cutOff(cause error, c *gatelatch.Call) {
	if !errors.Is(cause, gatelatch.ErrFenced) {
		return
	}
	err := a.store.View(context.Background(), func(r gatelatch.Reader) error {
		b, err := r.BatchOfCall(c.ID)
		if err == nil && b.Opened.Holder == a.holder {
			err = errors.New("a tool was cut off though its holder has the batch")
		}
		return err
	})
	if err != nil {
		a.t.Error(err)
	}
}

func (a *attempts) run(c *gatelatch.Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ran[c.ID] != nil {
		a.t.Errorf("call %s ran twice", c.ID)
	}
	if gatelatch.SumOf(c.Input) != c.InputSum {
		a.t.Errorf("call %s ran with another input", c.ID)
	}
	a.ran[c.ID] = c
}

// slow is a seat whose agent may freeze before it speaks, for longer than a
// lease: what it says then comes from the past.
type slow struct {
	*gatelatch.Seat
	*attempts
}

func (s *slow) freeze(ctx context.Context) {
	if !s.calmed() && s.dice.chance(20) {
		s.saw("an agent froze")
		sleep(ctx, s.dice.upTo(3*time.Minute))
	}
}

// Renew is for another goroutine, which needs dice of its own.
func (s *slow) Renew(ctx context.Context, batchID string, fence int64) error {
	ctx = s.with(ctx, fmt.Sprint(s.who.ID, s.proposal.Message, s.n, time.Now()))
	return s.Seat.Renew(ctx, batchID, fence)
}

func (s *slow) Consume(ctx context.Context, t gatelatch.Take) (*gatelatch.Call, error) {
	s.freeze(ctx)
	if t.Fence > 1 {
		s.saw("resumed by another")
	}
	return s.Seat.Consume(ctx, t)
}

func (s *slow) Report(ctx context.Context, r gatelatch.Report) error {
	s.freeze(ctx)
	return s.Seat.Report(ctx, r)
}

func (s *slow) Finish(ctx context.Context, f gatelatch.Finish) ([]gatelatch.Result, error) {
	s.freeze(ctx)
	return s.Seat.Finish(ctx, f)
}

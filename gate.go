package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Gate runs the approval state machine over a Store. Make one with New; calls
// expire while Run runs.
type Gate struct {
	store  Store
	policy Policy
	hooks  []Hook
	hub    *hub
}

// New returns a gate that judges by policy and keeps everything in store.
// Hooks run before policy, in order.
func New(store Store, policy Policy, hooks ...Hook) *Gate {
	g := &Gate{store: store, policy: policy, hooks: hooks, hub: newHub()}
	// From the first moment: a change that nobody heard would leave a waiter
	// asleep. It ends with the store.
	store.Changes(context.Background(), g.hub.changed)
	return g
}

// As returns the gate as one principal may use it. The actor comes from a
// verified key.
func (g *Gate) As(who Actor) *Seat { return &Seat{gate: g, who: who} }

// Run settles what has waited too long, until ctx ends.
func (g *Gate) Run(ctx context.Context) {
	for {
		timer := time.NewTimer(g.expireDue(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-g.hub.sooner:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// expireDue settles overdue calls and returns how long nothing is due. An
// error only makes it try again soon: expiry is a denial, late is safe.
func (g *Gate) expireDue(ctx context.Context) time.Duration {
	const again, idle = time.Second, time.Hour
	var due []string
	var next, now time.Time
	err := g.store.View(ctx, func(r Reader) (err error) {
		now = r.Now()
		due, next, err = r.Overdue(now, 100)
		return err
	})
	for _, callID := range due {
		e := g.store.Update(ctx, func(tx Tx) error {
			b, err := tx.BatchOfCall(callID)
			if err != nil {
				return err
			}
			if err := b.Expire(callID, tx.Now()); err != nil {
				return err
			}
			return tx.SaveBatch(b)
		})
		if e != nil && !errors.Is(e, ErrSettled) {
			err = errors.Join(err, e)
		}
	}
	switch {
	case err != nil || len(due) > 0:
		return again
	case next.IsZero():
		return idle
	}
	return min(idle, max(0, next.Sub(now)))
}

// before runs the hooks over one call. A block is sticky, a failing hook
// blocks, and what the last hook left is what gets judged.
func (g *Gate) before(ctx context.Context, c *Call, s *Session) (blocked []Reason) {
	for _, h := range g.hooks {
		res, err := runHook(ctx, h, c, s)
		if err == nil && res.Input != nil {
			q := ProposedCall{Kind: c.Kind, Tool: c.Tool, Input: res.Input}
			err = q.check()
		}
		switch {
		case err != nil:
			blocked = append(blocked, Reason{Effect: Deny, Layer: "hook", Rule: h.Name(), Message: "the hook failed: " + err.Error()})
		case res.Block:
			blocked = append(blocked, Reason{Effect: Deny, Layer: "hook", Rule: h.Name(), Message: res.Reason})
		case res.Input != nil:
			c.Input = slices.Clone([]byte(res.Input))
		}
	}
	return blocked
}

func runHook(ctx context.Context, h Hook, c *Call, s *Session) (res HookResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return h.Before(ctx, c, s)
}

// judge runs hooks and policy over one proposed call.
func (g *Gate) judge(ctx context.Context, q ProposedCall, s *Session) judged {
	c := &Call{Ref: q.Ref, Kind: q.Kind, Tool: q.Tool, Input: slices.Clone(q.Input), Dir: q.Dir, Claim: q.Claim}
	blocked := g.before(ctx, c, s)
	input := c.Input
	v := g.ask(ctx, c, s)
	if len(blocked) > 0 {
		v.Effect, v.Reasons = Deny, append(blocked, v.Reasons...)
	}
	// A question or a plan is for a person by nature: no rule answers it.
	if c.Kind != Permission && v.Effect == Allow {
		v.Effect = Ask
	}
	return judged{input: input, verdict: v}
}

func (g *Gate) ask(ctx context.Context, c *Call, s *Session) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = Verdict{Effect: Deny, Errors: []string{fmt.Sprintf("policy failed: %v", p)},
				Reasons: []Reason{{Effect: Deny, Layer: "policy", Message: "policy failed on this call"}}}
		}
	}()
	return g.policy.Judge(ctx, c, s)
}

package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Gate runs the approval state machine over a Store. Make one with New; calls
// expire while Run runs.
type Gate struct {
	store    Store
	policy   Policy
	hooks    []Hook
	after    afterHooks
	hub      *hub
	ledger   ledger
	sessions sessions
	rush     *rush
	bulk     bulk

	// Retention is how long a batch is kept after nothing can happen to it any
	// more. Its events stay. Set it before Run; New sets 30 days.
	Retention time.Duration
	// Grace, if set, is how long nobody waits for an answer before people are
	// told so. Set it before Run.
	Grace time.Duration
	// Binder, if set, finds what calls depend on besides their input. Set it
	// before the gate is used.
	Binder Binder
	// Salt, if set, is a secret that goes into the digests of what Binder found:
	// without it an agent could try out what a file holds. Set it with Binder.
	Salt []byte
	// Quota is how much each agent may ask. Set it before anything is asked.
	Quota Quota
	// Signs, if set, says which allows need a person's passkey. Modes that
	// loosen then need one, too. Set it before the gate is used.
	Signs func(c *Call, d Decision) bool
	// MaxInput, if set, is how many bytes an input may have, up to MostInput. Set
	// it before the gate is used.
	MaxInput int
}

// New returns a gate that judges by policy and keeps everything in store.
// Hooks run before policy, in order.
func New(store Store, policy Policy, hooks ...Hook) *Gate {
	g := &Gate{store: store, policy: policy, hooks: hooks, hub: newHub(), Retention: 30 * 24 * time.Hour}
	// From the first moment: a change that nobody heard would leave a waiter
	// asleep. It ends with the store.
	store.Changes(context.Background(), g.hub.changed)
	return g
}

// As returns the gate as one principal may use it. The actor comes from a
// verified key.
func (g *Gate) As(who Actor) *Seat { return &Seat{gate: g, who: who} }

// Run does what nobody asks for, until ctx ends: it settles what has waited too
// long, judges again what a new grant may cover, and forgets what is long over.
func (g *Gate) Run(ctx context.Context) {
	for {
		wait, _ := g.Sweep(ctx)
		timer := time.NewTimer(wait)
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

// Sweep is one round of Run, and returns how long nothing is due. An error
// only makes it soon: whatever the clock does is a denial, and late is safe. It
// is never long, because another gateway may have left something to do and died.
func (g *Gate) Sweep(ctx context.Context) (time.Duration, error) {
	const again, idle = time.Second, 30 * time.Second
	began := time.Now()
	g.hub.looks.Store(math.MaxInt64) // what is due meanwhile may come too late for this round
	now, next, err := g.tickDue(ctx)
	g.hub.looks.Store(now.Add(idle).UnixMicro())
	left, e := g.leftDue(ctx)
	more, e2 := g.workDue(ctx)
	if err = errors.Join(err, e, e2, g.forgetOver(ctx)); err != nil || more {
		return again, err
	}
	wait := min(idle, next, left)
	g.hub.looks.Store(now.Add(time.Since(began) + wait).UnixMicro())
	return wait, nil
}

// tickDue tells the clock to every batch that is due, and returns the store's
// time and how long until the next one.
func (g *Gate) tickDue(ctx context.Context) (now time.Time, wait time.Duration, err error) {
	const far = time.Hour
	var due []string
	var next time.Time
	err = g.store.View(ctx, func(r Reader) (err error) {
		now = r.Now()
		due, next, err = r.Due(now, atOnce)
		return err
	})
	for _, id := range due {
		err = errors.Join(err, g.change(ctx, id, tick))
	}
	switch {
	case len(due) > 0:
		return now, 0, err
	case next.IsZero():
		return now, far, err
	}
	return now, max(0, next.Sub(now)), err
}

// Ping reports whether the store takes changes, by one that changes nothing.
func (g *Gate) Ping(ctx context.Context) error {
	return g.store.Update(ctx, func(tx Tx) error { _, err := tx.LastSeq(); return err })
}

// Note records something that the gateway itself found out.
func (g *Gate) Note(ctx context.Context, kind EventKind, body any) error {
	return g.store.Update(ctx, func(tx Tx) error {
		return tx.Record(Event{Kind: kind, By: Actor{Kind: GatewayActor}, At: tx.Now(), Body: maskedBody(body)})
	})
}

// NoteUnseen records that a call ran in a session that nobody asked about.
func (g *Gate) NoteUnseen(ctx context.Context, agent, session string) error {
	return g.store.Update(ctx, func(tx Tx) error { return noteUnseen(tx, Actor{Kind: GatewayActor}, agent, session) })
}

func tick(tx Tx, b *Batch) error {
	b.Tick(tx.Now())
	return nil
}

// forgetOver deletes batches that were over before Retention.
func (g *Gate) forgetOver(ctx context.Context) error {
	var over []string
	err := g.store.View(ctx, func(r Reader) (err error) {
		over, err = r.Over(r.Now().Add(-g.Retention), atOnce)
		return err
	})
	for _, id := range over {
		err = errors.Join(err, g.store.Update(ctx, func(tx Tx) error {
			b, err := tx.Batch(id)
			if err != nil {
				return err
			}
			if x := b.Index(); x.Over.IsZero() || !x.Over.Before(tx.Now().Add(-g.Retention)) {
				return nil
			}
			if err := tx.Forget(id); err != nil {
				return err
			}
			return tx.Record(Event{Kind: BatchForgotten, By: Actor{Kind: ClockActor}, At: tx.Now(), Batch: id})
		}))
	}
	return err
}

// before runs the hooks over one call. A block is sticky, a failing hook
// blocks, and what the last hook left is what gets judged.
func (g *Gate) before(ctx context.Context, c *Call, s *Session) (blocked []Reason) {
	for _, h := range g.hooks {
		res, err := runHook(ctx, h, c, s)
		if err == nil && res.Input != nil {
			q := ProposedCall{Kind: c.Kind, Tool: c.Tool, Input: res.Input}
			err = g.checkCall(&q)
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
	own := *c // a hook changes a call by what it returns, and in no other way
	own.Input = slices.Clone(c.Input)
	return h.Before(ctx, &own, s)
}

// judge runs hooks and policy over one proposed call.
func (g *Gate) judge(ctx context.Context, q ProposedCall, s *Session, grants []*Grant) judged {
	c := q.call(slices.Clone(q.Input))
	blocked := g.before(ctx, c, s)
	input := c.Input
	v := g.ask(ctx, c, s, grants)
	if len(blocked) > 0 {
		v.Effect, v.Grant, v.Reasons = Deny, "", append(blocked, v.Reasons...)
	}
	// A question or a plan is for a person by nature: no rule answers it.
	if c.Kind != Permission && v.Effect == Allow {
		v.Effect, v.Grant = Ask, ""
	}
	j := judged{input: input, verdict: v.masked(input)}
	if v.Effect == Ask {
		c.Input = input
		j.bound = g.bind(c, s)
	}
	return j
}

func (g *Gate) ask(ctx context.Context, c *Call, s *Session, grants []*Grant) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = Verdict{Effect: Deny, Errors: []string{fmt.Sprintf("policy failed: %v", p)},
				Reasons: []Reason{{Effect: Deny, Layer: "policy", Message: "policy failed on this call"}}}
		}
	}()
	grants, changed := g.sameServer(c, s, grants)
	if v = g.policy.Judge(ctx, c, s, grants); v.Effect == Ask {
		v.Reasons = append(changed, v.Reasons...)
	}
	return v
}

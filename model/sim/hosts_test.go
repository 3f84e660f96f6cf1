package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
)

// host asks for one call at a time, stops waiting now and then, and asks again
// under another id or comes back with the same. It runs what it may at once.
func (w *world) host(i int) {
	who := gatelatch.Actor{Kind: gatelatch.AgentActor, ID: fmt.Sprint(hosts, i)}
	ctx := w.with(w.ctx, who.ID)
	d := diceOf(ctx)
	for n := range 3 {
		h := &hosting{world: w, who: who, dice: d, call: call(d, ""), turn: fmt.Sprint("turn", n)}
		for ctx.Err() == nil && !h.once(ctx) {
			sleep(ctx, d.upTo(10*time.Second))
		}
		for ctx.Err() == nil && h.leave(ctx) != nil {
			sleep(ctx, time.Second)
		}
		if ctx.Err() != nil {
			w.t.Errorf("host %d got no answer", i)
			return
		}
	}
}

// hosts begins the ids of those that never finish a batch.
const hosts = "host_"

// hosting is one call of a host.
type hosting struct {
	*world
	who     gatelatch.Actor
	dice    *dice
	call    gatelatch.ProposedCall
	turn    string
	message string
	n       int
}

// once asks once. It reports whether there was an answer.
func (h *hosting) once(ctx context.Context) bool {
	ctx, crash := context.WithCancel(ctx)
	defer crash()
	if !h.calmed() && h.dice.chance(4) {
		timer := time.AfterFunc(h.dice.upTo(time.Minute), crash)
		defer timer.Stop()
	}
	n := h.node(h.dice)
	ctx, done := n.in(ctx)
	defer done()
	if h.n++; h.message == "" || h.dice.chance(2) {
		h.message = fmt.Sprint(h.turn, "_", h.n)
	}
	c := h.call
	c.Ref = h.message
	hold := gatelatch.Hold{Holder: fmt.Sprint(h.turn, "_holder_", h.n), Lease: time.Minute, Consume: true}
	seat := n.gate.As(h.who)
	b, err := seat.Propose(ctx, gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Project: "/p"}, Message: h.message, Calls: []gatelatch.ProposedCall{c}, Pair: h.turn, Hold: hold,
	})
	if err == nil && !b.Held() {
		b, err = h.await(ctx, seat, b.ID, hold)
	}
	if err != nil {
		// An attempt that did not hear of it has it: nobody runs that.
		if errors.Is(err, gatelatch.ErrOpened) {
			h.message = ""
		}
		return false
	}
	h.run(ctx, seat, b)
	return true
}

// await waits for a while, then parks. What is settled just then is found by
// who asks again.
func (h *hosting) await(ctx context.Context, seat *gatelatch.Seat, batch string, hold gatelatch.Hold) (*gatelatch.Batch, error) {
	waiting, stop := context.WithTimeout(ctx, h.dice.upTo(time.Minute))
	defer stop()
	b, err := seat.Await(waiting, batch, hold)
	if err == nil || waiting.Err() == nil || ctx.Err() != nil {
		return b, err
	}
	switch err := seat.Park(ctx, batch, h.dice.chance(2)); {
	case err == nil:
		h.saw("a host parked")
	case errors.Is(err, gatelatch.ErrConflict):
		h.saw("a second deferral was refused")
	}
	return nil, err
}

// run does what the answer says.
func (h *hosting) run(ctx context.Context, seat *gatelatch.Seat, b *gatelatch.Batch) {
	c := b.Calls[0]
	if c.State != gatelatch.Allowed {
		return
	}
	if c.Consumed == nil {
		h.t.Errorf("call %s is given to a host, but not consumed", c.ID)
	}
	(&attempts{world: h.world}).run(c)
	h.saw("a host ran")
	_, _ = seat.Ran(ctx, gatelatch.Report{Session: "s", Ref: h.message, OK: true}) // it may not come through
}

// leave ends the turn: nothing that is not parked waits any more.
func (h *hosting) leave(ctx context.Context) error {
	n := h.node(h.dice)
	ctx, done := n.in(ctx)
	defer done()
	said, err := n.gate.As(h.who).Leave(ctx, gatelatch.Leaving{Session: "s", Prompt: true})
	if said != "" {
		h.saw("said with the next prompt")
	}
	return err
}

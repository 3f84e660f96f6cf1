package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
)

// person decides what waits, and sometimes does other things.
func (w *world) person(i int) {
	who := gatelatch.Actor{Kind: gatelatch.PersonActor, ID: fmt.Sprint("person_", i)}
	ctx := w.with(w.ctx, who.ID)
	d := diceOf(ctx)
	for sleep(ctx, time.Second+d.upTo(40*time.Second)) {
		n := w.node(d)
		in, done := n.in(ctx)
		seat := n.gate.As(who)
		switch {
		case !w.calmed() && d.chance(30):
			w.stopAll(in, d, seat)
		case d.chance(6):
			w.revoke(in, d, seat)
		default:
			w.look(in, d, seat)
		}
		done()
	}
}

func (w *world) stopAll(ctx context.Context, d *dice, seat *gatelatch.Seat) {
	if seat.Pause(ctx, "stop") == nil {
		w.saw("paused")
	}
	sleep(ctx, d.upTo(time.Minute))
	for w.ctx.Err() == nil { // by any gateway: a pause must not last
		n := w.node(d)
		in, done := n.in(context.WithValue(w.ctx, diceKey{}, d))
		err := n.gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "person_end"}).Unpause(in)
		done()
		if err == nil {
			return
		}
		sleep(w.ctx, time.Second)
	}
}

func (w *world) revoke(ctx context.Context, d *dice, seat *gatelatch.Seat) {
	gs, err := seat.Grants(ctx, true, 100)
	if err != nil || len(gs) == 0 {
		return
	}
	if _, err := seat.RevokeGrant(ctx, gs[d.IntN(len(gs))].ID); err == nil {
		w.saw("grant revoked")
	}
}

// look decides some of what waits, perhaps twice, perhaps after an edit.
func (w *world) look(ctx context.Context, d *dice, seat *gatelatch.Seat) {
	p, err := seat.List(ctx, gatelatch.Query{Pending: true})
	if err != nil {
		return
	}
	for _, l := range p.Calls {
		if d.chance(3) && !w.calmed() {
			continue
		}
		sleep(ctx, d.upTo(5*time.Second))
		if d.chance(6) {
			b, err := seat.Edit(ctx, l.ID, l.Digest, []byte(`"edited"`))
			if err != nil {
				continue
			}
			l.Call = b.Call(l.ID)
		}
		dec := gatelatch.Decision{State: gatelatch.Allowed, Digest: l.Digest}
		switch {
		case d.chance(4):
			dec.State = gatelatch.Denied
			if d.chance(2) {
				dec.Interrupt, dec.Note = true, "stop"
			}
		case l.Tool == "plain" && d.chance(2):
			scopes := []gatelatch.Scope{gatelatch.ForSession, gatelatch.ForProject, gatelatch.Always}
			dec.Remember = &gatelatch.Terms{Scope: scopes[d.IntN(3)], Match: "plain(*)", For: time.Duration(d.IntN(2)) * time.Minute, Uses: d.IntN(3)}
		}
		for range 1 + d.IntN(2) {
			w.decide(ctx, seat, l.Call, dec)
		}
	}
}

func (w *world) decide(ctx context.Context, seat *gatelatch.Seat, c *gatelatch.Call, dec gatelatch.Decision) {
	_, err := seat.Decide(ctx, c.ID, dec)
	switch {
	case err == nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		if old := w.acked[c.ID]; old.State != "" && old.State != dec.State {
			w.t.Errorf("call %s was acknowledged as %s and as %s (I2)", c.ID, old.State, dec.State)
		}
		w.acked[c.ID] = dec
	case errors.Is(err, gatelatch.ErrSettled), errors.Is(err, gatelatch.ErrChanged), errors.Is(err, gatelatch.ErrPaused), errors.Is(err, gatelatch.ErrStale),
		errors.Is(err, errStore), errors.Is(err, errLost), errors.Is(err, errDown), ctx.Err() != nil:
	default:
		w.t.Errorf("deciding: %v", err)
	}
}

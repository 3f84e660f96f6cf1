package gatelatch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

func (w *world) ran(ref string) {
	w.t.Helper()
	if _, err := w.gate.As(agentA).Ran(w.t.Context(), gatelatch.Report{Session: "s1", Ref: ref, OK: true}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) deferrals() int {
	w.t.Helper()
	ls, err := w.gate.As(mira).Deferrals(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return len(ls)
}

func (w *world) leave(l gatelatch.Leaving) (said string) {
	w.t.Helper()
	said, err := w.gate.As(agentA).Leave(w.t.Context(), l)
	if err != nil {
		w.t.Fatal(err)
	}
	return said
}

// What is too late to be decided expires, also when its turn is ended.

// What is too late to be decided expires, also when its turn is ended.

// I5: a parked call that was allowed and that the host ran by itself has used
// its allow. The same call again is a new question.
func TestParkedCallThatRanIsNotTakenOver(t *testing.T) {
	w := newWorld(t)
	first := w.propose(message("m1", "ask"))
	w.park(first, true)
	if err := w.decide(mira, first.Calls[0], gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	w.ran("m1_0")
	if n := w.deferrals(); n != 0 {
		t.Errorf("%d deferrals are open after the host ran it", n)
	}
	if b := w.propose(held("m2")); b.Calls[0].State != gatelatch.Pending {
		t.Errorf("one allow, two calls: %+v", b.Calls[0])
	}
}

// What is too late to be decided expires, also when its turn is ended.

// What is too late to be decided expires, also when its turn is ended.

// A deferred call that was asked again under another id is nothing to come back
// for, and keeps no other call from being deferred.
func TestTakenOverIsNotDeferred(t *testing.T) {
	w := newWorld(t)
	first := w.propose(message("m1", "ask"))
	w.park(first, true)
	again := w.propose(message("m2", "ask"))
	if n := w.deferrals(); n != 0 {
		t.Errorf("%d deferrals are open", n)
	}
	w.park(again, true)
}

// What is too late to be decided expires, also when its turn is ended.

// A denial is taken over once too, also by a holder that asks twice.
func TestParkedDenialIsTakenOverOnce(t *testing.T) {
	w := newWorld(t)
	first := w.propose(message("m1", "ask"))
	w.park(first, false)
	if err := w.decide(mira, first.Calls[0], gatelatch.Denied); err != nil {
		t.Fatal(err)
	}
	for i, want := range []gatelatch.State{gatelatch.Denied, gatelatch.Pending} {
		p := message([]string{"m2", "m3"}[i], "ask")
		p.Hold = hold("h")
		if b := w.propose(p); b.Calls[0].State != want {
			t.Errorf("asked again as %s: %s, want %s", p.Message, b.Calls[0].State, want)
		}
	}
}

// What is too late to be decided expires, also when its turn is ended.

// What is too late to be decided expires, also when its turn is ended.

// What is too late to be decided expires, also when its turn is ended.

// What was parked and then taken is somebody's again: leaving ends it.
func TestTakenIsNotParked(t *testing.T) {
	w := newWorld(t)
	agent, h := w.gate.As(agentA), gatelatch.Hold{Holder: "h"}
	b := w.propose(message("m1", "ask"))
	w.park(b, false)
	if err := w.decide(mira, b.Calls[0], gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	b, err := agent.Await(t.Context(), b.ID, h)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = agent.Extend(t.Context(), b.ID, b.Opened.Fence, message("x", "ask").Calls); err != nil {
		t.Fatal(err)
	}
	w.leave(gatelatch.Leaving{Session: "s1"})
	if b, err = agent.Batch(t.Context(), b.ID); err != nil || b.Calls[1].State != gatelatch.Withdrawn {
		t.Errorf("after leaving: %+v, %v", b.Calls[1], err)
	}
}

// What is too late to be decided expires, also when its turn is ended.

// What is too late to be decided expires, also when its turn is ended.

// REL-30: an allow that nobody came for in time lapses, also if the clock was
// not told yet.
func TestLapsedAllowIsNotTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuickWorld(t)
		first := w.propose(message("m1", "ask"))
		w.park(first, false)
		if err := w.decide(mira, first.Calls[0], gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
		w.stop()
		<-time.After(gatelatch.PermitLife)
		if b := w.propose(held("m2")); b.Calls[0].State != gatelatch.Pending {
			t.Errorf("asked again: %+v", b.Calls[0])
		}
	})
}

// A click that is repeated because its answer was lost ends nothing more.
func TestInterruptingAgainIsHarmless(t *testing.T) {
	w := newWorld(t)
	ask := func(id string) *gatelatch.Batch {
		p := message(id, "ask")
		p.Pair = "p1"
		return w.propose(p)
	}
	first := ask("m1")
	stop := func() {
		d := gatelatch.Decision{State: gatelatch.Denied, Digest: first.Calls[0].Digest, Note: "stop", Interrupt: true}
		if _, err := w.gate.As(mira).Decide(t.Context(), first.Calls[0].ID, d); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	prompt := gatelatch.Leaving{Session: "s1", Prompt: true}
	if said := w.leave(prompt); said != "stop" {
		t.Errorf("said %q", said)
	}
	later := ask("m2")
	stop()
	if b, err := w.gate.As(agentA).Batch(t.Context(), later.ID); err != nil || b.Calls[0].State != gatelatch.Pending {
		t.Errorf("what came later: %+v, %v", b.Calls[0], err)
	}
	if said := w.leave(prompt); said != "" {
		t.Errorf("said again: %q", said)
	}
}

// What is too late to be decided expires, also when its turn is ended.
func TestInterruptDecidesNothingLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuickWorld(t)
		w.stop()
		ask := func(id string, limit time.Duration) *gatelatch.Batch {
			p := message(id, "ask")
			p.Pair, p.Limit = "p1", limit
			return w.propose(p)
		}
		first, late := ask("m1", 0), ask("m2", time.Minute)
		<-time.After(time.Minute)
		d := gatelatch.Decision{State: gatelatch.Denied, Digest: first.Calls[0].Digest, Interrupt: true}
		if _, err := w.gate.As(mira).Decide(t.Context(), first.Calls[0].ID, d); err != nil {
			t.Fatal(err)
		}
		if _, err := w.gate.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b, err := w.gate.As(agentA).Batch(t.Context(), late.ID); err != nil || b.Calls[0].State != gatelatch.Expired {
			t.Errorf("%+v, %v", b.Calls[0], err)
		}
	})
}

// I5: of twins that share a holder, the later gets no allow that the host used
// for the first.
func TestTwinOfWhatRanIsNotTakenOver(t *testing.T) {
	w := newWorld(t)
	ask := func(id string) *gatelatch.Batch {
		p := message(id, "ask")
		p.Pair, p.Repeats, p.Hold = "turn", true, hold("h")
		return w.propose(p)
	}
	first := ask("m1")
	if err := w.decide(mira, first.Calls[0], gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	w.ran("m1_0")
	if c := ask("m2").Calls[0]; c.State != gatelatch.Pending {
		t.Errorf("one allow, two calls: %s, consumed %v", c.State, c.Consumed != nil)
	}
}

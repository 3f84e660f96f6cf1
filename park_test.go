package gatelatch_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

func (w *world) park(b *gatelatch.Batch, deferred bool) {
	w.t.Helper()
	if err := w.gate.As(agentA).Park(w.t.Context(), b.ID, deferred); err != nil {
		w.t.Fatal(err)
	}
}

// held is the same call asked under another id, by somebody who takes the
// answer at once if there is one.
func held(id string) gatelatch.Proposal {
	p := message(id, "ask")
	p.Hold = hold("h_" + id)
	return p
}

// REL-30: whoever stops waiting leaves the question, and the same call asked
// again gets the decision, once.
func TestParkedCallIsTakenOver(t *testing.T) {
	for _, state := range []gatelatch.State{gatelatch.Allowed, gatelatch.Denied} {
		t.Run(string(state), func(t *testing.T) {
			w := newWorld(t)
			first := w.propose(message("m1", "ask"))
			w.park(first, false)
			w.restart()
			if err := w.decide(mira, first.Calls[0], state); err != nil {
				t.Fatal(err)
			}
			w.restart()
			b := w.propose(held("m2"))
			c := b.Calls[0]
			if b.ID == first.ID || c.State != state || !b.Held() || (c.Consumed != nil) != (state == gatelatch.Allowed) || c.Decided.By != mira {
				t.Fatalf("asked again: %+v", c)
			}
			if changed, err := w.gate.As(agentA).Ran(t.Context(), gatelatch.Report{Session: "s1", Ref: "m2_0", OK: true}); state == gatelatch.Allowed && (err != nil || changed) {
				t.Errorf("reported: changed %v, %v", changed, err)
			}
			if again := w.propose(held("m3")); again.Calls[0].State != gatelatch.Pending {
				t.Errorf("the decision held a second time: %+v", again.Calls[0])
			}
		})
	}
}

// Trap 9: a parked approval is for these arguments, this session and place.
func TestTrap9ParkedApprovalIsForTheSameCall(t *testing.T) {
	w := newWorld(t)
	first := w.propose(message("m1", "ask"))
	w.park(first, false)
	if err := w.decide(mira, first.Calls[0], gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*gatelatch.Proposal){
		"input":   func(p *gatelatch.Proposal) { p.Calls[0].Input = []byte(`{"command": "a && c"}`) },
		"dir":     func(p *gatelatch.Proposal) { p.Calls[0].Dir = "/q" },
		"session": func(p *gatelatch.Proposal) { p.Session.ID = "s2" },
		"kind":    func(p *gatelatch.Proposal) { p.Calls[0].Kind = gatelatch.Plan },
	} {
		p := held("m_" + name)
		change(&p)
		if b := w.propose(p); b.Calls[0].State != gatelatch.Pending {
			t.Errorf("another %s: %+v", name, b.Calls[0])
		}
	}
	if b := w.propose(held("m2")); b.Calls[0].State != gatelatch.Allowed {
		t.Errorf("the same: %+v", b.Calls[0])
	}
}

// An allow that lapsed while no gateway ran is over, also before the clock got
// to it.
func TestParkedAllowLapses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuickWorld(t)
		first := w.propose(message("m1", "ask"))
		w.park(first, false)
		if err := w.decide(mira, first.Calls[0], gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
		w.stop()
		<-time.After(gatelatch.PermitLife)
		if c := w.propose(held("m2")).Calls[0]; c.State != gatelatch.Pending {
			t.Errorf("asked again: %+v", c)
		}
	})
}

// A deferral that went on under another id is none any more.
func TestDeferralIsTakenOver(t *testing.T) {
	w := newWorld(t)
	first := w.propose(message("m1", "ask"))
	w.park(first, true)
	if err := w.decide(mira, first.Calls[0], gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	if c := w.propose(held("m2")).Calls[0]; c.State != gatelatch.Allowed {
		t.Fatalf("asked again: %+v", c)
	}
	if ls, err := w.gate.As(mira).Deferrals(t.Context()); err != nil || len(ls) > 0 {
		t.Errorf("%d deferrals, %v", len(ls), err)
	}
	w.park(w.propose(message("m3", "ask")), true)
}

func TestParkedWhileStillWaiting(t *testing.T) {
	w := newWorld(t)
	first := w.propose(message("m1", "ask"))
	w.park(first, false)
	edited, err := w.gate.As(mira).Edit(t.Context(), first.Calls[0].ID, first.Calls[0].Digest, []byte(`{"command":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	b := w.propose(held("m2"))
	c := b.Calls[0]
	if c.State != gatelatch.Pending || string(c.Input) != `{"command":"a"}` || c.Digest != edited.Calls[0].Digest {
		t.Fatalf("asked again: %+v", c)
	}
	if err := w.decide(mira, first.Calls[0], gatelatch.Allowed); !errors.Is(err, gatelatch.ErrSettled) {
		t.Errorf("the card before: %v", err)
	}
	if err := w.decide(mira, c, gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	if b, err = w.gate.As(agentA).Await(t.Context(), b.ID, hold("h_m2")); err != nil || b.Calls[0].Consumed == nil {
		t.Errorf("%+v, %v", b, err)
	}
	if changed, err := w.gate.As(agentA).Ran(t.Context(), gatelatch.Report{Session: "s1", Ref: "m2_0", OK: true}); err != nil || !changed {
		t.Errorf("changed %v, %v", changed, err)
	}
}

// A host comes back with one deferred call for each session.
func TestOneDeferralForEachSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuickWorld(t)
		defer w.stop()
		first, second := w.propose(message("m1", "ask")), w.propose(message("m2", "ask", "ask"))
		other := w.from("s2", "/p", "m3")
		third := w.propose(message("m4", "ask"))
		w.park(first, true)
		w.park(first, true) // the answer was lost
		w.park(other, true)
		agent := w.gate.As(agentA)
		if err := agent.Park(t.Context(), third.ID, true); !errors.Is(err, gatelatch.ErrConflict) {
			t.Errorf("a second deferral: %v", err)
		}
		w.park(third, false)
		if err := agent.Park(t.Context(), second.ID, false); !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("parking two calls: %v", err)
		}
		if err := w.gate.As(agentB).Park(t.Context(), first.ID, true); !errors.Is(err, gatelatch.ErrNotFound) {
			t.Errorf("another agent's: %v", err)
		}
		<-time.After(6 * 24 * time.Hour)
		deferred := func() (ready []bool) {
			ls, err := w.gate.As(mira).Deferrals(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range ls {
				ready = append(ready, l.Batch.Ready())
			}
			return ready
		}
		if got := deferred(); len(got) != 2 || got[0] || got[1] {
			t.Errorf("before the decision: %v", got)
		}
		if err := w.decide(mira, first.Calls[0], gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
		if err := agent.Park(t.Context(), first.ID, true); !errors.Is(err, gatelatch.ErrSettled) {
			t.Errorf("parking what is decided: %v", err)
		}
		back := message("m1", "ask")
		back.Hold = hold("h2")
		if b := w.propose(back); b.ID != first.ID || !b.Held() || b.Calls[0].Consumed == nil {
			t.Errorf("the host came back: %+v", b)
		}
		if got := deferred(); len(got) != 1 {
			t.Errorf("after it came back: %v", got)
		}
		w.park(third, true)
	})
}

func TestLeaving(t *testing.T) {
	w := newWorld(t)
	sub := message("m2", "ask")
	sub.Subagent = "a1"
	parked := message("m3", "ask")
	parked.Calls[0].Dir = "/other"
	mine, theirs, kept, other := w.propose(message("m1", "ask")), w.propose(sub), w.propose(parked), w.from("s2", "/p", "m4")
	w.park(kept, false)
	states := func() (out [4]gatelatch.State) {
		for i, b := range []*gatelatch.Batch{mine, theirs, kept, other} {
			b, err := w.gate.As(agentA).Batch(t.Context(), b.ID)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = b.Calls[0].State
		}
		return out
	}
	const waits, gone = gatelatch.Pending, gatelatch.Withdrawn
	for _, step := range []struct {
		who  gatelatch.Actor
		l    gatelatch.Leaving
		want [4]gatelatch.State
	}{
		{agentB, gatelatch.Leaving{Session: "s1", All: true}, [4]gatelatch.State{waits, waits, waits, waits}},
		{agentA, gatelatch.Leaving{Session: "s1", Why: "over"}, [4]gatelatch.State{gone, waits, waits, waits}},
		{agentA, gatelatch.Leaving{Session: "s1", Subagent: "a1"}, [4]gatelatch.State{gone, gone, waits, waits}},
		{agentA, gatelatch.Leaving{Session: "s2", All: true}, [4]gatelatch.State{gone, gone, waits, gone}},
	} {
		if said, err := w.gate.As(step.who).Leave(t.Context(), step.l); err != nil || said != "" {
			t.Fatal(said, err)
		}
		if got := states(); got != step.want {
			t.Errorf("after %+v: %v, want %v", step.l, got, step.want)
		}
	}
	if _, err := w.gate.As(mira).Leave(t.Context(), gatelatch.Leaving{Session: "s1"}); !errors.Is(err, gatelatch.ErrForbidden) {
		t.Errorf("a person leaves for an agent: %v", err)
	}
}

// S3: a person who says stop to one call of a turn stops the others with it.
func TestInterruptEndsTheTurn(t *testing.T) {
	w := newWorld(t)
	ask := func(id, turn, sub string) *gatelatch.Batch {
		p := message(id, "ask")
		p.Pair, p.Subagent, p.Calls[0].Dir = turn, sub, "/"+id
		return w.propose(p)
	}
	one, two, later, sub := ask("m1", "p1/", ""), ask("m2", "p1/", ""), ask("m3", "p2/", ""), ask("m4", "p1/a", "a")
	_, err := w.gate.As(mira).Decide(t.Context(), one.Calls[0].ID, gatelatch.Decision{State: gatelatch.Denied, Digest: one.Calls[0].Digest, Note: "stop", Interrupt: true})
	if err != nil {
		t.Fatal(err)
	}
	for b, want := range map[*gatelatch.Batch]gatelatch.State{two: gatelatch.Denied, later: gatelatch.Pending, sub: gatelatch.Pending} {
		got, err := w.gate.As(agentA).Batch(t.Context(), b.ID)
		if err != nil || got.Calls[0].State != want || want == gatelatch.Denied && (!got.Calls[0].Decided.Interrupt || got.Calls[0].Decided.By != mira) {
			t.Errorf("%s: %+v, %v", b.Message, got.Calls[0], err)
		}
	}
	// What was said goes with the next prompt, once.
	for _, step := range []struct {
		l    gatelatch.Leaving
		want string
	}{{gatelatch.Leaving{Session: "s1"}, ""}, {gatelatch.Leaving{Session: "s1", Prompt: true}, "stop"}, {gatelatch.Leaving{Session: "s1", Prompt: true}, ""}} {
		if said, err := w.gate.As(agentA).Leave(t.Context(), step.l); err != nil || said != step.want {
			t.Errorf("%+v: said %q, %v", step.l, said, err)
		}
	}
}

// SEC-33: a call that ran without having been asked about is noted.
func TestUnseenCallIsNoted(t *testing.T) {
	w := newWorld(t)
	w.propose(message("m1", "ask"))
	for _, session := range []string{"s1", "s1", "unknown"} {
		if _, err := w.gate.As(agentA).Ran(t.Context(), gatelatch.Report{Session: session, Ref: "never", OK: true}); !errors.Is(err, gatelatch.ErrNotFound) {
			t.Errorf("%s: %v", session, err)
		}
	}
	es, err := w.gate.As(mira).Events(t.Context(), 0, 100)
	n := 0
	for _, e := range es {
		if e.Kind == gatelatch.CallUnseen {
			n++
		}
	}
	if err != nil || n != 1 {
		t.Errorf("noted %d times, %v", n, err)
	}
}

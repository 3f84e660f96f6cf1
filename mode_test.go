package gatelatch_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

func (w *world) mode(m gatelatch.ModeTerms) {
	w.t.Helper()
	if _, err := w.gate.As(mira).SetMode(w.t.Context(), agentA.ID, "s1", m); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) state(batchID string) gatelatch.State {
	w.t.Helper()
	b, err := w.gate.As(mira).Batch(w.t.Context(), batchID)
	if err != nil {
		w.t.Fatal(err)
	}
	return b.Calls[0].State
}

// P10: a person chooses the mode of a session, for a time, and for no other.
func TestModeOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		waits, other := w.from("s1", "/p", "m0"), w.from("s2", "/p", "m1")
		w.mode(gatelatch.ModeTerms{Mode: gatelatch.ModeBypass, For: time.Hour})
		synctest.Wait()
		if got := w.state(waits.ID); got != gatelatch.Allowed {
			t.Errorf("what waited is %s", got)
		}
		if got := w.state(other.ID); got != gatelatch.Pending {
			t.Errorf("another session's is %s", got)
		}
		if b := w.from("s1", "/p", "m2"); b.Calls[0].State != gatelatch.Allowed {
			t.Errorf("a new one is %s", b.Calls[0].State)
		}
		if b := w.propose(message("m3", "deny")); b.Calls[0].State != gatelatch.Denied {
			t.Errorf("a denial became %s", b.Calls[0].State)
		}
		<-time.After(time.Hour)
		if b := w.from("s1", "/p", "m4"); b.Calls[0].State != gatelatch.Pending {
			t.Errorf("after the hour: %s", b.Calls[0].State)
		}
		ss, err := w.gate.As(mira).Sessions(t.Context(), 10)
		if err != nil || len(ss) != 2 || ss[0].ID != "s2" || ss[1].Chosen.By != mira {
			t.Errorf("sessions %+v, %v", ss, err)
		}
	})
}

// What a mode allowed and nobody consumed ends with the mode, also by the clock.
func TestModeThatEndedTakesItsAllowsBack(t *testing.T) {
	for name, end := range map[string]func(*world){
		"by a person":  func(w *world) { w.mode(gatelatch.ModeTerms{Mode: gatelatch.ModeDefault}) },
		"by the clock": func(*world) { <-time.After(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.from("s1", "/p", "m0")
				w.mode(gatelatch.ModeTerms{Mode: gatelatch.ModeBypass, For: time.Hour})
				b := w.from("s1", "/p", "m1")
				end(w)
				got, err := w.gate.As(agentA).Await(t.Context(), b.ID, hold("h"))
				if err != nil || got.Calls[0].State != gatelatch.Revoked || got.Calls[0].Consumed != nil {
					t.Errorf("%s, %v", got.Calls[0].State, err)
				}
			})
		})
	}
}

func TestModeThatIsRefused(t *testing.T) {
	w := newWorld(t)
	w.from("s1", "/p", "m0")
	for name, m := range map[string]gatelatch.ModeTerms{
		"no such mode":       {Mode: "yolo"},
		"none":               {},
		"bypass for ever":    {Mode: gatelatch.ModeBypass},
		"bypass for a week":  {Mode: gatelatch.ModeBypass, For: 7 * 24 * time.Hour},
		"less than no time":  {Mode: gatelatch.ModePlan, For: -1},
		"plan for the agent": {Mode: gatelatch.ModePlan},
	} {
		who := mira
		if name == "plan for the agent" {
			who = agentA
		}
		if _, err := w.gate.As(who).SetMode(t.Context(), agentA.ID, "s1", m); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := w.gate.As(mira).SetMode(t.Context(), agentA.ID, "s9", gatelatch.ModeTerms{Mode: gatelatch.ModePlan}); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("no such session: %v", err)
	}
}

// slowly is byTool that lets something happen between judging and saving.
type slowly struct {
	byTool
	meanwhile atomic.Pointer[func()]
}

func (p *slowly) Judge(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session, grants []*gatelatch.Grant) gatelatch.Verdict {
	v := p.byTool.Judge(ctx, c, s, grants)
	if fn := p.meanwhile.Swap(nil); fn != nil {
		(*fn)()
	}
	return v
}

// A verdict of a mode that ended while it was reached is not saved.
func TestModeThatEndsWhileJudging(t *testing.T) {
	p := &slowly{}
	w := &world{t: t, dir: t.TempDir(), policy: p}
	w.start()
	w.from("s1", "/p", "m0")
	w.mode(gatelatch.ModeTerms{Mode: gatelatch.ModeBypass, For: time.Hour})
	w.from("s1", "/p", "m1") // now the gate knows the session as it is
	for _, id := range []string{"m2", "m3"} {
		p.meanwhile.Store(new(func() { w.mode(gatelatch.ModeTerms{Mode: gatelatch.ModeDefault}) }))
		if b := w.from("s1", "/p", id); b.Calls[0].State != gatelatch.Pending {
			t.Errorf("%s is %s", id, b.Calls[0].State)
		}
	}
}

// What the gate surmised and was wrong about is looked up: a batch is found
// again, whatever was proposed between.
func TestProposingAgainFindsTheBatch(t *testing.T) {
	w := newWorld(t)
	first := w.from("s1", "/p", "m0")
	w.from("s1", "/p", "m1")
	if b := w.from("s1", "/p", "m0"); b.ID != first.ID {
		t.Errorf("the same message is %s and %s", first.ID, b.ID)
	}
	p := message("m0", "allow")
	if _, err := w.gate.As(agentA).Propose(t.Context(), p); !errors.Is(err, gatelatch.ErrConflict) {
		t.Errorf("other calls under the same message: %v", err)
	}
}

// The agent's host hears of the mode that a person chose, and of its end.
func TestAgentFollowsTheMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		agent := w.gate.As(agentA)
		got := make(chan gatelatch.Mode, 1)
		follow := func(known gatelatch.Mode) {
			go func() {
				m, err := agent.FollowMode(t.Context(), "s1", known)
				if err != nil {
					t.Error(err)
				}
				got <- m
			}()
			synctest.Wait()
		}
		follow("") // before the session is known at all
		w.from("s1", "/p", "m0")
		w.mode(gatelatch.ModeTerms{Mode: gatelatch.ModeAcceptEdits, For: time.Hour})
		if m := <-got; m != gatelatch.ModeAcceptEdits {
			t.Errorf("followed %q", m)
		}
		follow(gatelatch.ModeAcceptEdits)
		if m := <-got; m != "" {
			t.Errorf("after its hour the mode is %q", m)
		}
		if _, err := w.gate.As(mira).FollowMode(t.Context(), "s1", ""); !errors.Is(err, gatelatch.ErrForbidden) {
			t.Errorf("a person followed: %v", err)
		}
	})
}

// V3, S8: a plan is allowed with the mode that the person picked, which is the
// session's from then on; never with one that asks nobody.
func TestPlanIsAllowedWithAMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := message("m1", "ask")
		p.Calls[0].Kind = gatelatch.Plan
		p.Calls[0].Input = []byte(`{"plan":"do"}`)
		b := w.propose(p)
		c := b.Calls[0]
		bypass := gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest, Mode: gatelatch.ModeBypass}
		if _, err := w.gate.As(mira).Decide(t.Context(), c.ID, bypass); !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("a plan was allowed with bypass: %v", err)
		}
		b, err := w.gate.As(mira).Edit(t.Context(), c.ID, c.Digest, []byte(`{"plan":"do less"}`))
		if err != nil || string(b.Calls[0].Input) != `{"plan":"do less"}` {
			t.Fatalf("editing a plan: %v", err)
		}
		d := gatelatch.Decision{State: gatelatch.Allowed, Digest: b.Calls[0].Digest, Mode: gatelatch.ModeAcceptEdits}
		if _, err := w.gate.As(mira).Decide(t.Context(), c.ID, d); err != nil {
			t.Fatal(err)
		}
		if m, err := w.gate.As(agentA).FollowMode(t.Context(), p.Session.ID, ""); err != nil || m != gatelatch.ModeAcceptEdits {
			t.Errorf("the session's mode is %q, %v", m, err)
		}
	})
}

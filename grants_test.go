package gatelatch_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
)

// from proposes one "ask" call from a session, and says where it stands.
func (w *world) from(session, project, id string) *gatelatch.Batch {
	p := message(id, "ask")
	p.Session.ID, p.Session.Project = session, project
	return w.propose(p)
}

// remember allows a call and has it remembered.
func (w *world) remember(c *gatelatch.Call, t gatelatch.Terms) string {
	w.t.Helper()
	t.Match = "ask"
	b, err := w.gate.As(mira).Decide(w.t.Context(), c.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest, Remember: &t})
	if err != nil {
		w.t.Fatal(err)
	}
	return b.Call(c.ID).Decided.Grant
}

func TestGrantsReachTheirScope(t *testing.T) {
	for scope, want := range map[gatelatch.Scope][3]gatelatch.State{ // same session, same project, another project
		gatelatch.ForSession: {gatelatch.Allowed, gatelatch.Pending, gatelatch.Pending},
		gatelatch.ForProject: {gatelatch.Allowed, gatelatch.Allowed, gatelatch.Pending},
		gatelatch.Always:     {gatelatch.Allowed, gatelatch.Allowed, gatelatch.Allowed},
	} {
		t.Run(string(scope), func(t *testing.T) {
			w := newWorld(t)
			w.remember(w.from("s1", "/p", "m0").Calls[0], gatelatch.Terms{Scope: scope})
			w.restart()
			for i, b := range []*gatelatch.Batch{w.from("s1", "/p", "m1"), w.from("s2", "/p", "m2"), w.from("s3", "/q", "m3")} {
				if got := b.Calls[0].State; got != want[i] {
					t.Errorf("call %d is %s, want %s", i, got, want[i])
				}
			}
			p := message("m4", "ask")
			if b, err := w.gate.As(agentB).Propose(t.Context(), p); err != nil || b.Calls[0].State != gatelatch.Pending {
				t.Errorf("another agent's: %+v, %v", b, err)
			}
		})
	}
}

func TestGrantsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.remember(w.from("s1", "/p", "m0").Calls[0], gatelatch.Terms{Scope: gatelatch.Always, Uses: 2})
		two := w.propose(message("m1", "ask", "ask", "ask"))
		for i, want := range []gatelatch.State{gatelatch.Allowed, gatelatch.Allowed, gatelatch.Pending} {
			if got := two.Calls[i].State; got != want {
				t.Errorf("use %d: %s, want %s", i+1, got, want)
			}
		}
		w.remember(two.Calls[2], gatelatch.Terms{Scope: gatelatch.Always, For: time.Hour})
		if b := w.from("s1", "/p", "m2"); b.Calls[0].State != gatelatch.Allowed {
			t.Errorf("within the hour: %s", b.Calls[0].State)
		}
		<-time.After(time.Hour)
		if b := w.from("s1", "/p", "m3"); b.Calls[0].State != gatelatch.Pending {
			t.Errorf("after the hour: %s", b.Calls[0].State)
		}
	})
}

// Trap 8: what already waits is judged again when a grant is made.
func TestWaitingSiblingsAreJudgedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first, sibling, other := w.from("s1", "/p", "m0"), w.from("s1", "/p", "m1"), w.from("s2", "/p", "m2")
		id := w.remember(first.Calls[0], gatelatch.Terms{Scope: gatelatch.ForSession})
		synctest.Wait()
		b, err := w.gate.As(agentA).Await(t.Context(), sibling.ID, hold("h"))
		if err != nil || b.Calls[0].State != gatelatch.Allowed || b.Calls[0].Decided.Grant != id {
			t.Errorf("the sibling: %+v, %v", b.Calls[0].Decided, err)
		}
		if b, _ := w.gate.As(mira).Batch(t.Context(), other.ID); b.Calls[0].State != gatelatch.Pending {
			t.Errorf("another session's is %s", b.Calls[0].State)
		}
	})
}

// I12: after a revocation nothing is allowed by the grant, not even what it
// had allowed before and nobody consumed.
func TestRevokedGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		id := w.remember(w.from("s1", "/p", "m0").Calls[0], gatelatch.Terms{Scope: gatelatch.Always})
		unconsumed, held := w.from("s1", "/p", "m1"), w.from("s1", "/p", "m2")
		agent := w.gate.As(agentA)
		b, err := agent.Await(t.Context(), held.ID, gatelatch.Hold{Holder: "h"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if g, err := w.gate.As(otto).RevokeGrant(t.Context(), id); err != nil || g.Revoked.IsZero() {
				t.Fatalf("%+v, %v", g, err)
			}
		}
		_, err = agent.Consume(t.Context(), gatelatch.Take{Batch: b.ID, Call: b.Calls[0].ID, Fence: 1, Digest: b.Calls[0].Digest, Nonce: "n"})
		if !errors.Is(err, gatelatch.ErrSettled) {
			t.Errorf("consuming what it allowed: %v", err)
		}
		synctest.Wait()
		if b, _ := w.gate.As(mira).Batch(t.Context(), unconsumed.ID); b.Calls[0].State != gatelatch.Revoked || b.Calls[0].Decided.By != otto {
			t.Errorf("what it allowed before: %+v", b.Calls[0].Decided)
		}
		if b := w.from("s1", "/p", "m3"); b.Calls[0].State != gatelatch.Pending {
			t.Errorf("the next call is %s", b.Calls[0].State)
		}
		live, err := w.gate.As(mira).Grants(t.Context(), true, 10)
		all, _ := w.gate.As(mira).Grants(t.Context(), false, 10)
		if err != nil || len(live) != 0 || len(all) != 1 || all[0].Used == 0 || all[0].LastUsed.IsZero() {
			t.Errorf("listed %d live, %d in all: %+v, %v", len(live), len(all), all, err)
		}
	})
}

func TestWhatIsNotRemembered(t *testing.T) {
	w := newWorld(t)
	c := w.from("s1", "/p", "m0").Calls[0]
	d := gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest, Remember: &gatelatch.Terms{Scope: gatelatch.Always, Match: "*"}}
	if _, err := w.gate.As(mira).Decide(t.Context(), c.ID, d); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("a matcher that policy refuses: %v", err)
	}
	if b, _ := w.gate.As(mira).Batch(t.Context(), w.from("s1", "/p", "m0").ID); b.Calls[0].State != gatelatch.Pending {
		t.Errorf("the call is %s", b.Calls[0].State)
	}
	none := w.from("s2", "", "m1").Calls[0]
	d = gatelatch.Decision{State: gatelatch.Allowed, Digest: none.Digest, Remember: &gatelatch.Terms{Scope: gatelatch.ForProject, Match: "ask"}}
	if _, err := w.gate.As(mira).Decide(t.Context(), none.ID, d); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("for a project that nobody named: %v", err)
	}
	if _, err := w.gate.As(agentA).RevokeGrant(t.Context(), "gra_x"); !errors.Is(err, gatelatch.ErrForbidden) {
		t.Errorf("an agent that revokes: %v", err)
	}
}

// Edited input is judged again, and what is allowed is what was shown last.
func TestEditedInputRuns(t *testing.T) {
	w := newWorld(t)
	b := w.from("s1", "/p", "m0")
	shown := b.Calls[0]
	edited, err := w.gate.As(mira).Edit(t.Context(), shown.ID, shown.Digest, []byte(`{"command":"ls"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.decide(mira, shown, gatelatch.Allowed); !errors.Is(err, gatelatch.ErrChanged) {
		t.Errorf("allowing what was shown first: %v", err)
	}
	if err := w.decide(mira, edited.Calls[0], gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	got, err := w.gate.As(agentA).Await(t.Context(), b.ID, hold("h"))
	if err != nil || string(got.Calls[0].Input) != `{"command":"ls"}` {
		t.Errorf("the agent runs %s, %v", got.Calls[0].Input, err)
	}
	if again := w.from("s1", "/p", "m0"); again.ID != b.ID {
		t.Error("proposing again made another batch")
	}
	if _, err := w.gate.As(agentA).Edit(t.Context(), shown.ID, shown.Digest, []byte(`{}`)); !errors.Is(err, gatelatch.ErrForbidden) {
		t.Errorf("an agent that edits: %v", err)
	}
}

// lossy is a store that can lose a commit.
type lossy struct {
	*memory.Store
	lose error
}

func (s *lossy) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	return s.Store.Update(ctx, func(tx gatelatch.Tx) error { return cmp.Or(fn(tx), s.lose) })
}

// That an allow was taken back is told only when it is durable.
func TestLostRevocationIsNotTold(t *testing.T) {
	s := &lossy{Store: memory.New(memory.Options{})}
	w := &world{t: t, gate: gatelatch.New(s, byTool{})}
	id := w.remember(w.from("s1", "/p", "m0").Calls[0], gatelatch.Terms{Scope: gatelatch.Always})
	agent := w.gate.As(agentA)
	b, err := agent.Await(t.Context(), w.from("s1", "/p", "m1").ID, gatelatch.Hold{Holder: "h"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.gate.As(otto).RevokeGrant(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	take := gatelatch.Take{Batch: b.ID, Call: b.Calls[0].ID, Fence: 1, Digest: b.Calls[0].Digest, Nonce: "n"}
	s.lose = errors.New("the commit was lost")
	if _, err := agent.Consume(t.Context(), take); !errors.Is(err, s.lose) {
		t.Errorf("with a lost commit: %v", err)
	}
	s.lose = nil
	if _, err := agent.Consume(t.Context(), take); !errors.Is(err, gatelatch.ErrSettled) {
		t.Errorf("afterwards: %v", err)
	}
}

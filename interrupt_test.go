package gatelatch_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch"
)

// A person stops a session: what waits is denied, and a host that follows its
// interrupts hears of each of them once.
func TestInterruptReachesTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		agent, person := w.gate.As(agentA), w.gate.As(mira)
		b := w.from("s1", "/p", "m0")
		other := w.from("s2", "/p", "m1")
		n, err := agent.FollowInterrupts(t.Context(), "s1", -1)
		if err != nil || n != 0 {
			t.Fatalf("at first %d interrupts, %v", n, err)
		}
		got := make(chan int64, 1)
		follow := func(known int64) {
			go func() {
				n, err := agent.FollowInterrupts(t.Context(), "s1", known)
				if err == nil {
					got <- n
				}
			}()
			synctest.Wait()
		}
		follow(0)
		if _, err := person.Interrupt(t.Context(), agentA.ID, "s1", "wrong way"); err != nil {
			t.Fatal(err)
		}
		if n := <-got; n != 1 {
			t.Errorf("the host heard of %d interrupts", n)
		}
		l, err := person.Call(t.Context(), b.Calls[0].ID)
		if err != nil || l.State != gatelatch.Denied || !l.Decided.Interrupt || l.Decided.Note != "wrong way" || l.Decided.By.ID != mira.ID {
			t.Errorf("what waited is %s (%+v), %v", l.State, l.Decided, err)
		}
		if got := w.state(other.ID); got != gatelatch.Pending {
			t.Errorf("another session's call is %s", got)
		}
		follow(1) // it has told the agent
		if got := w.from("s1", "/p", "m2").Calls[0]; got.State != gatelatch.Pending {
			t.Errorf("a call of the next turn is %s", got.State)
		}
		select {
		case n := <-got:
			t.Errorf("it heard of %d interrupts again", n)
		default:
		}
	})
}

// The next call of a host that follows nothing ends its turn, also one that
// policy allows; only that one, and none after a new prompt.
func TestInterruptEndsTheNextCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := func() {
		t.Helper()
		if _, err := w.gate.As(mira).Interrupt(t.Context(), agentA.ID, "s1", "enough"); err != nil {
			t.Fatal(err)
		}
	}
	call := func(id, tool string) *gatelatch.Call {
		t.Helper()
		p := message(id, tool)
		p.Session.ID, p.Hold = "s1", gatelatch.Hold{Holder: "h-" + id}
		return w.propose(p).Calls[0]
	}
	call("m0", "allow")
	stop()
	if c := call("m1", "deny"); c.State != gatelatch.Denied || c.Decided.Interrupt {
		t.Errorf("a rule's denial is %s, %+v", c.State, c.Decided)
	}
	w.restart()
	if c := call("m2", "allow"); c.State != gatelatch.Denied || c.Consumed != nil || !c.Decided.Interrupt || c.Decided.Note != "enough" {
		t.Errorf("the next call is %s, %+v", c.State, c.Decided)
	}
	if c := call("m3", "allow"); c.State != gatelatch.Allowed {
		t.Errorf("the call after it is %s", c.State)
	}
	stop()
	w.leave(gatelatch.Leaving{Session: "s1", Prompt: true, Why: "a new prompt"})
	if c := call("m4", "allow"); c.State != gatelatch.Allowed {
		t.Errorf("after a new prompt a call is %s", c.State)
	}
	if _, err := w.gate.As(agentA).Interrupt(t.Context(), agentA.ID, "s1", ""); !errors.Is(err, gatelatch.ErrForbidden) {
		t.Errorf("an agent interrupted: %v", err)
	}
	if _, err := w.gate.As(mira).Interrupt(t.Context(), agentA.ID, "none", ""); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("a session that is not known: %v", err)
	}
}

// A host that begins to follow when a person has already spoken is told, unless
// somebody else was.
func TestInterruptBeforeTheHostFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.gate.As(agentA)
	w.from("s1", "/p", "m0")
	follow := func(known, want int64) {
		t.Helper()
		if n, err := agent.FollowInterrupts(t.Context(), "s1", known); err != nil || n != want {
			t.Fatalf("behind %d: %d interrupts, %v; want %d", known, n, err, want)
		}
	}
	for range 2 {
		if _, err := w.gate.As(mira).Interrupt(t.Context(), agentA.ID, "s1", ""); err != nil {
			t.Fatal(err)
		}
	}
	follow(-1, 1)
	follow(1, 2)
	w.leave(gatelatch.Leaving{Session: "s1", Prompt: true, Why: "a new prompt"})
	follow(-1, 2)
}

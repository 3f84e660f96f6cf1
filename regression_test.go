package gatelatch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Faults that other gates shipped. docs/regressions.md explains the numbers and
// lists the tests that stand elsewhere.

// Rule 1, trap 3: an id that nobody knows, or that is settled, is never a success.
func TestRule1UnknownIDs(t *testing.T) {
	w := newWorld(t)
	d := gatelatch.Decision{State: gatelatch.Allowed}
	if _, err := w.gate.As(mira).Decide(t.Context(), "cal_none", d); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("deciding: %v", err)
	}
	if _, err := w.gate.As(agentA).Await(t.Context(), "bat_none", hold("h")); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("awaiting: %v", err)
	}
	if _, err := w.gate.As(agentA).Consume(t.Context(), gatelatch.Take{Batch: "bat_none", Call: "cal_none", Nonce: "n"}); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("consuming: %v", err)
	}
	c := w.propose(message("m1", "ask")).Calls[0]
	if err := w.decide(mira, c, gatelatch.Denied); err != nil {
		t.Fatal(err)
	}
	if err := w.decide(otto, c, gatelatch.Allowed); !errors.Is(err, gatelatch.ErrSettled) {
		t.Errorf("allowing what was denied: %v", err)
	}
}

// Trap 2: a decision that comes before anybody waits is not lost.
func TestTrap2DecisionBeforeTheWaiter(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "ask"))
	if err := w.decide(mira, b.Calls[0], gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	w.restart()
	if b, err := w.gate.As(agentA).Await(t.Context(), b.ID, hold("h")); err != nil || b.Calls[0].State != gatelatch.Allowed {
		t.Errorf("%+v, %v", b, err)
	}
}

// Trap 4: who stops waiting decides nothing for the others.
func TestTrap4LeavingIsNotDenying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.propose(message("m1", "ask"))
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := w.gate.As(agentA).Await(short, b.ID, hold("h1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("leaving: %v", err)
		}
		stays := make(chan gatelatch.State)
		go func() {
			b, err := w.gate.As(agentA).Await(t.Context(), b.ID, hold("h2"))
			if err != nil {
				t.Error(err)
			}
			stays <- b.Calls[0].State
		}()
		synctest.Wait()
		if err := w.decide(mira, b.Calls[0], gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
		if got := <-stays; got != gatelatch.Allowed {
			t.Errorf("who stayed got %s", got)
		}
	})
}

// Rule 6: of many that decide at once, one wins and all learn who.
func TestRule6OneDecisionWins(t *testing.T) {
	w := newWorld(t)
	c := w.propose(message("m1", "ask")).Calls[0]
	won := make(chan gatelatch.State, 16)
	for i := range cap(won) {
		go func() {
			state, who := gatelatch.Allowed, mira
			if i%2 == 0 {
				state, who = gatelatch.Denied, otto
			}
			err := w.decide(who, c, state)
			var late *gatelatch.SettledError
			switch {
			case err == nil:
				won <- state
			case errors.As(err, &late):
				won <- late.Decided.State
			default:
				t.Error(err)
				won <- ""
			}
		}()
	}
	first := <-won
	for range cap(won) - 1 {
		if got := <-won; got != first {
			t.Errorf("one heard %s, another %s", first, got)
		}
	}
}

// Traps 16 and 17: each ending has its own text, which neither suggests a way
// around nor says that asking again is of no use.
func TestTrap16And17Texts(t *testing.T) {
	person, rule := mira, gatelatch.Actor{Kind: gatelatch.PolicyActor}
	for want, c := range map[string]gatelatch.Call{
		"User denied the request.":                                                             {State: gatelatch.Denied, Decided: &gatelatch.Decision{By: person}},
		"User denied the request: not now":                                                     {State: gatelatch.Denied, Decided: &gatelatch.Decision{By: person, Note: "not now"}},
		"The user did not allow this and answers: use make":                                    {State: gatelatch.Denied, Decided: &gatelatch.Decision{By: person, Note: "use make", Reply: true}},
		"Denied by policy: no force":                                                           {State: gatelatch.Denied, Decided: &gatelatch.Decision{By: rule, Note: "no force"}},
		"Nobody decided in time, so the request was denied. It may be asked again.":            {State: gatelatch.Expired},
		"The request was withdrawn: gone":                                                      {State: gatelatch.Withdrawn, Decided: &gatelatch.Decision{Note: "gone"}},
		"The request had been allowed, but that was taken back: stop":                          {State: gatelatch.Revoked, Decided: &gatelatch.Decision{Note: "stop"}},
		"The request had been allowed, but nobody came for it in time. It may be asked again.": {State: gatelatch.Lapsed},
		"The request was not decided, so it was denied.":                                       {State: "approved"},
		"": {State: gatelatch.Allowed},
	} {
		if got := c.Answer(); got != want {
			t.Errorf("%s: %q, want %q", c.State, got, want)
		}
	}
}

// Trap 19: who decided is a verified principal, and stays in the record.
func TestTrap19WhoDecidedIsKept(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "ask"))
	c := b.Calls[0]
	forged := gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest, By: otto, At: time.Unix(0, 0), Grant: "gra_forged"}
	if _, err := w.gate.As(mira).Decide(t.Context(), c.ID, forged); err != nil {
		t.Fatal(err)
	}
	w.restart()
	got, err := w.gate.As(otto).Batch(t.Context(), b.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := got.Calls[0].Decided; d.By != mira || d.At.Unix() == 0 || d.Grant != "" {
		t.Errorf("the record says %+v", d)
	}
}

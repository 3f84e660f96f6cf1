package gatelatch_test

import (
	"errors"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func TestLookWhenItRings(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "ask", "ask"))
	agent := w.gate.As(agentA)
	rang, silent := make(chan struct{}, 9), make(chan struct{}, 9)
	unwatch := agent.Watch(b.ID, func() { rang <- struct{}{} })
	defer unwatch()
	agent.Watch(b.ID, func() { silent <- struct{}{} })()
	for i, c := range b.Calls {
		if got, held, err := agent.Look(t.Context(), b.ID, hold("h")); err != nil || held || got.Opened != nil {
			t.Fatalf("with %d decided: %+v, %v, %v", i, got, held, err)
		}
		if err := w.decide(mira, c, gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
		<-rang
	}
	for range 2 { // asked again it is the same
		if got, held, err := agent.Look(t.Context(), b.ID, hold("h")); err != nil || !held || got.Opened.Holder != "h" {
			t.Fatalf("%+v, %v, %v", got, held, err)
		}
	}
	for who, want := range map[*gatelatch.Seat]error{agent: gatelatch.ErrOpened, w.gate.As(agentB): gatelatch.ErrNotFound, w.gate.As(mira): gatelatch.ErrForbidden} {
		if _, held, err := who.Look(t.Context(), b.ID, hold("h2")); held || !errors.Is(err, want) {
			t.Errorf("another: %v, %v, want %v", held, err, want)
		}
	}
	if len(silent) > 0 {
		t.Error("it rings for who no longer watches")
	}
}

package gatelatch_test

import (
	"errors"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// The switch alone stops everything: what it takes back one by one afterwards
// can't be opened or consumed in between.
func TestPauseHoldsBeforeAnythingIsTakenBack(t *testing.T) {
	w := newQuickWorld(t)
	agent := w.gate.As(agentA)
	waits, held := w.propose(message("m1", "allow")), w.propose(message("m2", "allow"))
	b, err := agent.Await(t.Context(), held.ID, gatelatch.Hold{Holder: "h"})
	if err != nil {
		t.Fatal(err)
	}
	err = w.held.Update(t.Context(), func(tx gatelatch.Tx) error {
		ctl, err := tx.Control()
		if err != nil {
			return err
		}
		ctl.Pause = gatelatch.Pause{On: true, By: mira}
		return tx.SaveControl(ctl)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Await(t.Context(), waits.ID, hold("h")); !errors.Is(err, gatelatch.ErrPaused) {
		t.Errorf("opening: %v", err)
	}
	take := gatelatch.Take{Batch: b.ID, Call: b.Calls[0].ID, Fence: 1, Digest: b.Calls[0].Digest, Nonce: "n"}
	if _, err := agent.Consume(t.Context(), take); !errors.Is(err, gatelatch.ErrPaused) {
		t.Errorf("consuming: %v", err)
	}
}

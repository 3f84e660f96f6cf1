package gatelatch_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

// stuck is byTool, but judging "deny" takes until it is let go.
type stuck struct {
	byTool
	free chan struct{}
}

func (p stuck) Judge(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session, grants []*gatelatch.Grant) gatelatch.Verdict {
	if c.Tool == "deny" {
		<-p.free
	}
	return p.byTool.Judge(ctx, c, s, grants)
}

// REL-28: asks that are too many are refused; what people do is not.
func TestAsksAreShedBeforeDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuickWorld(t)
		p := stuck{free: make(chan struct{})}
		w.policy = p
		w.restart()
		w.gate.LimitAsks(1, 1, time.Second)
		waits := w.propose(message("m0", "ask"))
		errs := make(chan error, 2)
		for _, m := range []string{"m1", "m2"} { // one is judged, one queues
			go func() { _, err := w.gate.As(agentA).Propose(t.Context(), message(m, "deny")); errs <- err }()
			synctest.Wait()
		}
		if _, err := w.gate.As(agentA).Propose(t.Context(), message("m3", "allow")); !errors.Is(err, gatelatch.ErrBusy) || !w.gate.Busy() {
			t.Errorf("the third: %v", err)
		}
		if err := w.decide(mira, waits.Calls[0], gatelatch.Allowed); err != nil {
			t.Errorf("a decision: %v", err)
		}
		if err := <-errs; !errors.Is(err, gatelatch.ErrBusy) { // its patience is over
			t.Errorf("who queued: %v", err)
		}
		close(p.free)
		if err := <-errs; err != nil {
			t.Errorf("who was judged: %v", err)
		}
		if _, err := w.gate.As(agentA).Propose(t.Context(), message("m3", "allow")); err != nil {
			t.Errorf("the third, again: %v", err)
		}
	})
}

// An agent whose calls take long to judge keeps no other from asking.
func TestNoAgentHasAllTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuickWorld(t)
		p := stuck{free: make(chan struct{})}
		w.policy = p
		w.restart()
		w.gate.LimitAsks(4, 4, time.Second)
		const many = 20
		errs := make(chan error, many)
		for i := range many {
			go func() {
				_, err := w.gate.As(agentA).Propose(t.Context(), message(fmt.Sprint("m", i), "deny"))
				errs <- err
			}()
		}
		synctest.Wait()
		other := gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_other"}
		if _, err := w.gate.As(other).Propose(t.Context(), message("m", "allow")); err != nil {
			t.Errorf("another agent: %v", err)
		}
		close(p.free)
		good := 0
		for range many {
			if err := <-errs; err == nil {
				good++
			} else if !errors.Is(err, gatelatch.ErrBusy) {
				t.Error(err)
			}
		}
		if good == 0 || good > 6 {
			t.Errorf("%d of %d were judged", good, many)
		}
	})
}

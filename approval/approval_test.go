package approval_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/approval"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

func newGate(t *testing.T) *gatelatch.Gate {
	t.Helper()
	s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "g.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := gatelatch.New(s, policy.Default())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); g.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended; _ = s.Close() })
	return g
}

// V1, V7: approved, denied with its reason, timed out and pending, each with a
// text that says which.
func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		person := g.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_m", Name: "mira"})
		svc := &approval.Gate{Service: g.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}), Session: gatelatch.SessionInfo{ID: "s"}, Limit: time.Hour}
		ask := func(id string) (approval.Answer, error) {
			return svc.RequestApproval(t.Context(), approval.Request{Tool: "Deploy", Input: []byte(`{"to": "prod"}`), CallID: id})
		}
		decide := func(state gatelatch.State, note string) {
			go func() {
				synctest.Wait()
				page, err := person.List(t.Context(), gatelatch.Query{Pending: true})
				if err != nil || len(page.Calls) != 1 {
					t.Errorf("%d calls wait, %v", len(page.Calls), err)
					return
				}
				c := page.Calls[0]
				if _, err := person.Decide(t.Context(), c.ID, gatelatch.Decision{State: state, Digest: c.Digest, Note: note}); err != nil {
					t.Error(err)
				}
			}()
		}

		decide(gatelatch.Allowed, "")
		if a, err := ask("1"); err != nil || a.Status != approval.Approved || string(a.Input) != `{"to": "prod"}` {
			t.Errorf("%v %s, %v", a.Status, a.Input, err)
		}
		if a, err := ask("1"); err == nil || a.Status != approval.Denied {
			t.Errorf("the same id again, after it was used: %v, %v", a.Status, err)
		}
		decide(gatelatch.Denied, "not on Friday")
		if a, err := ask("2"); err != nil || a.Status != approval.Denied || a.Reason != "User denied the request: not on Friday" {
			t.Errorf("%v %q, %v", a.Status, a.Reason, err)
		}
		if a, err := ask("3"); err != nil || a.Status != approval.TimedOut || a.Reason == "" {
			t.Errorf("%v %q, %v", a.Status, a.Reason, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		a, err := svc.RequestApproval(ctx, approval.Request{Tool: "Deploy", Input: []byte(`{}`), CallID: "4"})
		if !errors.Is(err, context.DeadlineExceeded) || a.Status != approval.Pending || a.Reason == "" {
			t.Errorf("%v %q, %v", a.Status, a.Reason, err)
		}
		if a, err := ask(""); !errors.Is(err, gatelatch.ErrInvalid) || a.Status != approval.Denied { // rule 2
			t.Errorf("without an id: %v, %v", a.Status, err)
		}
	})
}

// V2: approving everything is explicit, and never for a call without an id.
func TestAuto(t *testing.T) {
	r := approval.Request{Tool: "Deploy", Input: []byte(`{}`), CallID: "1"}
	if a, err := (approval.Auto{}).RequestApproval(t.Context(), r); err != nil || a.Status != approval.Approved {
		t.Errorf("%v, %v", a.Status, err)
	}
	r.CallID = ""
	if a, err := (approval.Auto{}).RequestApproval(t.Context(), r); err == nil || a.Status != approval.Denied {
		t.Errorf("without an id: %v, %v", a.Status, err)
	}
	if (approval.Answer{}).Status != approval.Denied {
		t.Error("the zero answer is not a denial")
	}
}

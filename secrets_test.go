package gatelatch_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/store/memory"
)

const githubToken = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

// SEC-52: inputs are purged after their time, and the chain stays valid.
func TestPurgeKeepsTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(memory.Options{})
		gate := gatelatch.New(store, byTool{})
		b, err := gate.As(agentA).Propose(t.Context(), gatelatch.Proposal{Session: gatelatch.SessionInfo{ID: "s"}, Message: "m",
			Calls: []gatelatch.ProposedCall{{Tool: "deny", Input: []byte(`"` + githubToken + `"`)}}})
		if err != nil {
			t.Fatal(err)
		}
		sweep := func() (kept bool) {
			if _, err := gate.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := gate.As(mira).Call(t.Context(), b.Calls[0].ID)
			if err != nil && !errors.Is(err, gatelatch.ErrNotFound) {
				t.Fatal(err)
			}
			return err == nil
		}
		<-time.After(29 * 24 * time.Hour)
		if !sweep() {
			t.Error("an input is gone too soon")
		}
		<-time.After(2 * 24 * time.Hour)
		if sweep() {
			t.Error("an input is kept for more than 30 days")
		}
		es, err := gate.As(mira).Events(t.Context(), 0, 100)
		if err != nil || es[len(es)-1].Kind != gatelatch.BatchForgotten {
			t.Fatalf("%+v, %v", es, err)
		}
		var prev gatelatch.Sum
		for _, e := range es {
			if e.Prev != prev || audit.Link(e) != e.Link || strings.Contains(string(e.Body), githubToken) {
				t.Errorf("event %d does not hold: %s", e.Seq, e.Body)
			}
			prev = e.Link
		}
	})
}

// covering offers to remember whatever the call is.
type covering struct{ byTool }

func (covering) Remember(c *gatelatch.Call, _ *gatelatch.Session, _ gatelatch.Scope) (string, error) {
	return "Bash(" + string(c.Input) + ")", nil
}

func (covering) Covers(string, *gatelatch.Call, *gatelatch.Session, gatelatch.Scope) error {
	return nil
}

// A secret is not remembered, whoever would like that.
func TestSecretsAreNotRemembered(t *testing.T) {
	gate := gatelatch.New(memory.New(memory.Options{}), covering{})
	b, err := gate.As(agentA).Propose(t.Context(), gatelatch.Proposal{Session: gatelatch.SessionInfo{ID: "s"}, Message: "m",
		Calls: []gatelatch.ProposedCall{{Tool: "ask", Input: []byte(`"` + githubToken + `"`), Suggests: []string{"Bash(" + githubToken + ")", "Bash(ls)"}}}})
	if err != nil {
		t.Fatal(err)
	}
	seat := gate.As(mira)
	l, err := seat.Call(t.Context(), b.Calls[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if match, err := seat.Remember(l, gatelatch.Always); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("it would remember %s, %v", match, err)
	}
	if offers := seat.Offers(l, gatelatch.Always); len(offers) != 1 || offers[0].Match != "Bash(ls)" {
		t.Errorf("offers: %+v", offers)
	}
	_, err = seat.Decide(t.Context(), l.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: l.Digest, Remember: &gatelatch.Terms{Scope: gatelatch.Always, Match: "Bash(" + githubToken + ")"}})
	if !errors.Is(err, gatelatch.ErrInvalid) || strings.Contains(err.Error(), githubToken) {
		t.Errorf("it was remembered: %v", err)
	}
	if _, err := seat.Decide(t.Context(), l.ID, gatelatch.Decision{State: gatelatch.Denied, Digest: l.Digest, Note: "not with " + githubToken}); err != nil {
		t.Fatal(err)
	}
	b, err = gate.As(agentA).Batch(t.Context(), b.ID)
	if err != nil || strings.Contains(b.Calls[0].Answer(), githubToken) || !strings.Contains(b.Calls[0].Answer(), "not with [secret:") {
		t.Errorf("the agent is told %q, %v", b.Calls[0].Answer(), err)
	}
}

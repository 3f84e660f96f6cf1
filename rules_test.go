package gatelatch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
)

// changing is a policy that allows one tool until its rules change.
type changing struct {
	byTool
	strict *bool
}

func (p changing) HashFor(*gatelatch.Session) string {
	if *p.strict {
		return "strict"
	}
	return "lax"
}

func (p changing) Judge(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session, gs []*gatelatch.Grant) gatelatch.Verdict {
	v := p.byTool.Judge(ctx, c, s, gs)
	if v.Policy = p.HashFor(nil); *p.strict && c.Tool == "allow" {
		v.Effect = gatelatch.Deny
	}
	return v
}

// I12 for rules: what one allowed and nobody consumed ends with the rule.
func TestRuleThatEndsTakesItsAllowsBack(t *testing.T) {
	strict := false
	gate := gatelatch.New(memory.New(memory.Options{}), changing{strict: &strict})
	agent, ctx := gate.As(agentA), t.Context()
	propose := func(id string, tools ...string) *gatelatch.Batch {
		b, err := agent.Propose(ctx, message(id, tools...))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	waits, held := propose("m1", "allow"), propose("m2", "allow")
	b, err := agent.Await(ctx, held.ID, gatelatch.Hold{Holder: "h"})
	if err != nil {
		t.Fatal(err)
	}
	asked := propose("m3", "ask")
	c := asked.Calls[0]
	if _, err := gate.As(mira).Decide(ctx, c.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest}); err != nil {
		t.Fatal(err)
	}

	strict = true
	if got, err := agent.Await(ctx, waits.ID, hold("h")); err != nil || got.Calls[0].State != gatelatch.Revoked {
		t.Errorf("opening what a rule had allowed: %+v, %v", got, err)
	}
	_, err = agent.Consume(ctx, gatelatch.Take{Batch: b.ID, Call: b.Calls[0].ID, Fence: 1, Digest: b.Calls[0].Digest, Nonce: "n"})
	if !errors.Is(err, gatelatch.ErrSettled) {
		t.Errorf("consuming what a rule had allowed: %v", err)
	}
	if got, err := agent.Await(ctx, asked.ID, hold("h")); err != nil || got.Calls[0].State != gatelatch.Allowed {
		t.Errorf("what a person allowed: %+v, %v", got, err)
	}
}

// A session's grant does not follow the session's name to another project.
func TestSessionGrantStaysInItsProject(t *testing.T) {
	w := newQuickWorld(t)
	w.remember(w.from("s1", "/p", "m0").Calls[0], gatelatch.Terms{Scope: gatelatch.ForSession})
	grants, err := w.gate.As(mira).Grants(t.Context(), true, 1)
	if err != nil || len(grants) != 1 || grants[0].Project != "/p" {
		t.Fatalf("%+v, %v", grants, err)
	}
	// As when the session was forgotten and is named again.
	err = w.held.Update(t.Context(), func(tx gatelatch.Tx) error {
		s, err := tx.Session(agentA.ID, "s1")
		if err != nil {
			return err
		}
		s.Project = "/"
		return tx.SaveSession(s)
	})
	if err != nil {
		t.Fatal(err)
	}
	if b := w.from("s1", "/", "m1"); b.Calls[0].State != gatelatch.Pending {
		t.Errorf("in another project the call is %s", b.Calls[0].State)
	}
}

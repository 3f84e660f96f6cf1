package gatelatch_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
)

// noted is a shared policy: its text is the effect of every call.
type noted struct {
	byTool
	rev atomic.Pointer[gatelatch.Revision]
}

func (p *noted) Judge(context.Context, *gatelatch.Call, *gatelatch.Session, []*gatelatch.Grant) gatelatch.Verdict {
	var e gatelatch.Effect
	if rev := p.rev.Load(); rev != nil {
		_ = e.UnmarshalText([]byte(rev.Text))
	}
	return gatelatch.Verdict{Effect: e, Reasons: []gatelatch.Reason{{Effect: e}}}
}

func (p *noted) Revision() int64 {
	if rev := p.rev.Load(); rev != nil {
		return rev.Number
	}
	return 0
}

func (p *noted) Use(rev *gatelatch.Revision) { p.rev.Store(rev) }

func (p *noted) Check(text string) error {
	var e gatelatch.Effect
	return e.UnmarshalText([]byte(text))
}

// SEC-32: a policy that is applied through one gateway is the policy of all of
// them at once.
func TestPolicyOfAllGateways(t *testing.T) {
	held := memory.New(memory.Options{})
	one, two := gatelatch.New(unclosed{held}, &noted{}), gatelatch.New(unclosed{held}, &noted{})
	ctx := t.Context()
	propose := func(g *gatelatch.Gate, id string) gatelatch.State {
		t.Helper()
		b, err := g.As(agentA).Propose(ctx, message(id, "x"))
		if err != nil {
			t.Fatal(err)
		}
		return b.Calls[0].State
	}
	if _, err := one.As(mira).ApplyPolicy(ctx, 0, "maybe", ""); err == nil {
		t.Error("a text that can't be read was taken")
	}
	if _, err := one.As(agentA).ApplyPolicy(ctx, 0, "allow", ""); !errors.Is(err, gatelatch.ErrForbidden) {
		t.Errorf("an agent's policy: %v", err)
	}
	for i, step := range []struct {
		text string
		want gatelatch.State
	}{{"allow", gatelatch.Allowed}, {"ask", gatelatch.Pending}, {"allow", gatelatch.Allowed}, {"deny", gatelatch.Denied}} {
		rev, err := one.As(mira).ApplyPolicy(ctx, int64(i), step.text, "because")
		if err != nil || rev.Number != int64(i+1) {
			t.Fatalf("revision %+v, %v", rev, err)
		}
		for name, g := range map[string]*gatelatch.Gate{"one": one, "two": two} {
			if got := propose(g, step.text+name+string(rune('a'+i))); got != step.want {
				t.Errorf("%s, %s: %s", step.text, name, got)
			}
		}
	}
	if _, err := two.As(mira).ApplyPolicy(ctx, 1, "allow", ""); !errors.Is(err, gatelatch.ErrConflict) {
		t.Errorf("a change of an old revision: %v", err)
	}
	rev, err := two.As(mira).Policy(ctx)
	if err != nil || rev.Text != "deny" || rev.By != mira || rev.Note != "because" {
		t.Errorf("in force: %+v, %v", rev, err)
	}
}

// A policy that lies in a file is noted when it changes.
func TestPolicyOfAFileIsNoted(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"a", "a", "b"} {
		if err := w.gate.Adopt(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	rev, err := w.gate.As(mira).Policy(t.Context())
	if err != nil || rev.Number != 2 || rev.Text != "b" || rev.By.Kind != gatelatch.GatewayActor {
		t.Errorf("%+v, %v", rev, err)
	}
	if _, err := w.gate.As(mira).ApplyPolicy(t.Context(), 2, "c", ""); err == nil {
		t.Error("a file was overruled")
	}
}

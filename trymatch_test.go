package gatelatch_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// What a matcher would have allowed is shown, and nothing is remembered.
func TestTryMatch(t *testing.T) {
	w := newWorld(t)
	from := func(session, project, id string, tools ...string) *gatelatch.Batch {
		p := message(id, tools...)
		p.Session.ID, p.Session.Project = session, project
		return w.propose(p)
	}
	settled := map[string]bool{}
	for i, b := range []*gatelatch.Batch{
		from("s1", "/p", "m1", "ask"), from("s1", "/p", "m2", "ask"), from("s2", "/p", "m3", "ask"), from("s3", "/q", "m4", "ask"),
	} {
		if err := w.decide(mira, b.Calls[0], []gatelatch.State{gatelatch.Allowed, gatelatch.Denied}[i%2]); err != nil {
			t.Fatal(err)
		}
		settled[b.Calls[0].ID] = true
	}
	from("s1", "/p", "m5", "allow", "deny", "panic") // no grant was needed, or helps
	waits := from("s1", "/p", "m6", "ask", "allow")
	plan := message("m7", "ask")
	plan.Calls[0].Kind = gatelatch.Plan
	planned := w.propose(plan)
	if _, err := w.gate.As(agentB).Propose(t.Context(), message("m8", "allow")); err != nil {
		t.Fatal(err)
	}
	seat := w.gate.As(mira)
	for scope, want := range map[gatelatch.Scope]string{
		gatelatch.ForSession: "2 of 6", // with the calls that the rules settled
		gatelatch.ForProject: "3 of 7",
		gatelatch.Always:     "4 of 8",
	} {
		got, err := seat.TryMatch(t.Context(), waits.Calls[0].ID, "ask", scope)
		if s := fmt.Sprintf("%d of %d", len(got.Matches), got.Of); err != nil || s != want {
			t.Errorf("%s: %s, want %s, %v", scope, s, want, err)
		}
		for _, l := range got.Matches {
			if !settled[l.ID] || l.Session == nil {
				t.Errorf("%s: %+v", scope, l.Call)
			}
		}
	}
	gs, err := seat.Grants(t.Context(), false, 10)
	if b, e := seat.Batch(t.Context(), waits.ID); err != nil || e != nil || len(gs) > 0 || b.Calls[0].State != gatelatch.Pending {
		t.Errorf("it was remembered: %+v, %v, %v", gs, err, e)
	}
	for name, tt := range map[string]struct {
		who         gatelatch.Actor
		call, match string
		want        error
	}{
		"what covers another call": {mira, waits.Calls[0].ID, "allow", gatelatch.ErrInvalid},
		"a plan":                   {mira, planned.Calls[0].ID, "ask", gatelatch.ErrInvalid},
		"no call":                  {mira, "cal_none", "ask", gatelatch.ErrNotFound},
		"an agent":                 {agentA, waits.Calls[0].ID, "ask", gatelatch.ErrForbidden},
	} {
		if got, err := w.gate.As(tt.who).TryMatch(t.Context(), tt.call, tt.match, gatelatch.Always); !errors.Is(err, tt.want) || got.Of > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// moding is byTool with rules that give one project a mode.
type moding struct{ byTool }

func (moding) ModeOf(s *gatelatch.Session) (gatelatch.Mode, string) {
	if s.Project == "/p" {
		return gatelatch.ModePlan, "policy.yaml"
	}
	return gatelatch.ModeDefault, ""
}

func TestRulesMode(t *testing.T) {
	type answer struct {
		mode   gatelatch.Mode
		source string
	}
	w := newWorld(t)
	ask := func(project string) (a answer) {
		a.mode, a.source = w.gate.As(mira).RulesMode(&gatelatch.Session{Project: project})
		return a
	}
	if got := ask("/p"); got != (answer{gatelatch.ModeDefault, ""}) {
		t.Errorf("a policy without modes: %+v", got)
	}
	w.policy = moding{}
	w.restart()
	for project, want := range map[string]answer{"/p": {gatelatch.ModePlan, "policy.yaml"}, "/q": {gatelatch.ModeDefault, ""}} {
		if got := ask(project); got != want {
			t.Errorf("%s: %+v, want %+v", project, got, want)
		}
	}
}

package e2e

import (
	"encoding/json"
	"testing"
)

func TestPolicyAllowRunsWithoutAsking(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nallow:\n  - Bash(touch x)\n")
	a := gatedAgent(t, g)

	wantDone(t, a.print(touch("x")).result())
	if !a.made("x") {
		t.Error("the call that policy allows did not run")
	}
	if w := g.waiting(); len(w) > 0 {
		t.Errorf("policy allowed the call, and yet a person was asked: %v", w)
	}
}

func TestPolicyDenyTellsTheModelWhy(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\ndeny:\n  - Bash(touch x)\n")
	a := gatedAgent(t, g)

	wantDone(t, a.print(touch("x"), wouldRun).result())
	if a.made("x") {
		t.Error("the call that policy denies ran")
	}
	a.sawRefusal("Bash(touch x)")
	if w := g.waiting(); len(w) > 0 {
		t.Errorf("policy denied the call, and yet a person was asked: %v", w)
	}
}

// waiting are the ids of the calls that wait for a person.
func (g *gateway) waiting() []string {
	g.t.Helper()
	var list struct {
		Calls []struct {
			ID    string `json:"id"`
			State string `json:"state"`
		} `json:"calls"`
	}
	out := g.cli("ls", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		g.t.Fatalf("gatelatch ls --json: %v\n%s", err, out)
	}
	var ids []string
	for _, c := range list.Calls {
		if c.State == "pending" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

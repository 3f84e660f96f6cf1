package main

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/client"
)

// Every field of an input and all that is known of a call is printed.
func TestShowLeavesNothingOut(t *testing.T) {
	opt := testGateway(t)
	c, err := client.ForAgents(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Name: "Agent", Project: "/srv/project"}, Message: "m", Context: gatelatch.Context{Via: "a helper"},
		Calls: []gatelatch.ProposedCall{{Kind: gatelatch.Permission, Tool: "mcp__mail__send", Input: []byte(`{"to":"all@example.org","body":"one\ntwo"}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	push := ask(t, opt, "m2", "git push").Calls[0].ID
	out := mustRun(t, opt, "show", b.Calls[0].ID)
	for _, want := range []string{"  to:\n  | all@example.org\n", "  body:\n  | one\n  | two\n", "asked by a sub-agent:\n  | a helper\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if out := mustRun(t, opt, "show", push); !strings.Contains(out, "Deletes none · Network 1 place") {
		t.Errorf("%s", out)
	}
}

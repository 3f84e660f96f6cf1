package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// drafter is an agent that proposes whatever a test wants, in a project with real
// files, on this machine.
type drafter struct {
	t       *testing.T
	agent   *client.Client
	project string
	session gatelatch.SessionInfo
}

func newDrafter(t *testing.T, g *gateway) *drafter {
	t.Helper()
	agent, err := client.ForAgents(g.state)
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(g.home, "checkout-api")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	return &drafter{t, agent, project, gatelatch.SessionInfo{ID: "desk", Name: "Claude Code", Project: project, Host: host}}
}

// file writes a file of the project and returns its path.
func (d *drafter) file(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// call is a call with that input.
func (d *drafter) call(tool string, input map[string]any) gatelatch.ProposedCall {
	d.t.Helper()
	raw, err := strictjson.Marshal(input)
	if err != nil {
		d.t.Fatal(err)
	}
	kind := gatelatch.Permission
	switch tool {
	case "AskUserQuestion":
		kind = gatelatch.Question
	case "ExitPlanMode":
		kind = gatelatch.Plan
	}
	return gatelatch.ProposedCall{Kind: kind, Tool: tool, Input: raw, Dir: d.project}
}

func (d *drafter) bash(command string) gatelatch.ProposedCall {
	d.t.Helper()
	return d.call("Bash", map[string]any{"command": command})
}

// propose proposes one batch.
func (d *drafter) propose(message string, calls ...gatelatch.ProposedCall) *gatelatch.Batch {
	d.t.Helper()
	b, err := d.agent.Propose(d.t.Context(), gatelatch.Proposal{Session: d.session, Message: message, Calls: calls})
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}

// call of a batch as it is now.
func (d *drafter) now(b *gatelatch.Batch, i int) *gatelatch.Call {
	d.t.Helper()
	fresh, err := d.agent.Batch(d.t.Context(), b.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	return fresh.Calls[i]
}

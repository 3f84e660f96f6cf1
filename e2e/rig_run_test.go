package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// hosted starts the agent under "gatelatch run" and returns while it runs.
func (a *agent) hosted(g *gateway, prompt string, args ...string) *session {
	a.t.Helper()
	return a.hostedBy(g, nil, append(args, "--", prompt)...)
}

func (a *agent) hostedBy(g *gateway, flags []string, args ...string) *session {
	a.t.Helper()
	all := append([]string{"run", "--state", g.state}, flags...)
	// IS_SANDBOX: without it, claude refuses some modes to root.
	return a.begin([]string{"IS_SANDBOX=1"}, need(a.t, product).gatelatch, append(append(all, "--", a.bin, "-p"), args...)...)
}

// wantCode waits for the end and fails the test unless it ended with the code.
func (s *session) wantCode(want int) {
	s.a.t.Helper()
	s.waitExit()
	if got := s.cmd.ProcessState.ExitCode(); got != want {
		s.a.t.Errorf("gatelatch run ended with code %d, want %d", got, want)
	}
}

// agentPID waits for the process that gatelatch run started.
func (s *session) agentPID() string {
	s.a.t.Helper()
	var pid string
	until(s.a.t, "the agent's process", func() bool {
		out, _ := exec.Command("pgrep", "-P", strconv.Itoa(s.cmd.Process.Pid)).Output()
		pid = strings.TrimSpace(string(out))
		return pid != ""
	})
	return pid
}

// approver decides without a browser.
type approver struct {
	t *testing.T
	c *client.Client
}

func newApprover(t *testing.T, g *gateway) approver {
	t.Helper()
	c, err := client.ForPeople(g.state)
	if err != nil {
		t.Fatal(err)
	}
	return approver{t, c}
}

// wait returns the call that waits and whose input has the text.
func (p approver) wait(text string) (out api.Call) {
	p.t.Helper()
	until(p.t, "a call with "+text, func() bool {
		cs, err := p.c.Calls(p.t.Context(), "pending", "", 100)
		for _, c := range cs.Calls {
			if err == nil && strings.Contains(string(c.Input), text) {
				out = c
				return true
			}
		}
		return false
	})
	return out
}

func (p approver) decide(c api.Call, d api.Decision) {
	p.t.Helper()
	d.Digest = c.Digest
	if _, err := p.c.Decide(p.t.Context(), c.ID, d); err != nil {
		p.t.Fatal(err)
	}
}

func (p approver) allow(text string) {
	p.t.Helper()
	p.decide(p.wait(text), api.Decision{State: "allowed"})
}

// state returns how the call ended.
func (p approver) state(id string) string {
	p.t.Helper()
	c, err := p.c.Call(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return c.State
}

// calls is a turn with several calls.
func calls(commands ...string) scriptedmodel.Turn {
	var t scriptedmodel.Turn
	for _, c := range commands {
		t.Content = append(t.Content, scriptedmodel.Bash(c).Content...)
	}
	return t
}

// told reports whether the agent's own transcript has the text: the model saw it.
func (a *agent) told(text string) bool {
	a.t.Helper()
	files, err := filepath.Glob(filepath.Join(a.home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil {
		a.t.Fatal(err)
	}
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil && strings.Contains(string(raw), text) {
			return true
		}
	}
	return false
}

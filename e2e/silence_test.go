package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// SEC-33 with the real agent: a session that goes on without its hooks is told
// of by its transcript, and so is a sub-agent whose calls pass them by.
func TestSessionThatGoesOnWithoutHooksIsNoticed(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nallow:\n  - Bash(touch *)\n  - Agent\n")
	a := gatedAgent(t, g)
	first := a.print(touch("x"), wouldRun).result()
	wantDone(t, first)
	if got := g.unseen(); len(got) > 0 {
		t.Errorf("before anything was unasked, %v are told of", got)
	}

	a.hookOnly("Agent")
	sub := scriptedmodel.Prompt(scriptedmodel.Bash("touch sub"), scriptedmodel.Say("sub is through"))
	second := a.print(scriptedmodel.Prompt(scriptedmodel.Call("Agent", map[string]any{
		"description": "a part", "prompt": sub, "subagent_type": "general-purpose", "run_in_background": false,
	}), scriptedmodel.Say("done")), wouldRun).result()
	wantDone(t, second)

	g.cliEnv(cleanEnv(a.home), "uninstall", "claude", "--yes")
	wantDone(t, a.print(touch("y"), wouldRun, "--resume", first.Session).result())
	if !a.made("x") || !a.made("sub") || !a.made("y") {
		t.Errorf("x, sub, y were made: %v %v %v", a.made("x"), a.made("sub"), a.made("y"))
	}
	until(t, "both sessions to be told of", func() bool {
		got := g.unseen()
		return slices.Contains(got, first.Session) && slices.Contains(got, second.Session)
	})
	if out, _ := g.try("doctor"); !strings.Contains(out, "ran unasked") {
		t.Errorf("the doctor says nothing of it: %s", out)
	}
}

// unseen are the sessions in which something ran unasked.
func (g *gateway) unseen() (sessions []string) {
	g.t.Helper()
	trail, err := g.desk().client.Trail(g.t.Context(), 0, 1000)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, e := range trail.Events {
		if e.Kind == "call.unseen" {
			var body struct{ Session string }
			if err := json.Unmarshal(e.Body, &body); err != nil {
				g.t.Fatal(err)
			}
			sessions = append(sessions, body.Session)
		}
	}
	return sessions
}

// hookOnly has the installed hooks see the calls of one tool only.
func (a *agent) hookOnly(tool string) {
	a.t.Helper()
	raw, err := os.ReadFile(a.settingsFile())
	if err != nil {
		a.t.Fatal(err)
	}
	changed := bytes.ReplaceAll(raw, []byte(`"matcher": "*"`), []byte(`"matcher": "`+tool+`"`))
	if bytes.Equal(raw, changed) {
		a.t.Fatalf("no hook is for all tools: %s", raw)
	}
	if err := os.WriteFile(a.settingsFile(), changed, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// The agent and its hook are killed at once, so that neither takes anything
// back: the card stays and says that nobody waits.
func TestCardOfAKilledAgentSaysThatNobodyWaits(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	s := a.print(touch("x"), wouldRun)
	c := in.waitCard("touch x")
	hook := a.waitHook()
	for _, k := range []struct {
		pid int
		sig syscall.Signal
	}{{s.cmd.Process.Pid, syscall.SIGSTOP}, {hook, syscall.SIGKILL}, {s.cmd.Process.Pid, syscall.SIGKILL}} {
		if err := syscall.Kill(k.pid, k.sig); err != nil {
			t.Fatal(err)
		}
	}
	s.waitExit()
	until(t, "the card to say that nobody waits", func() bool { return strings.Contains(c.text(), "Nobody waits for the answer") })
	c.allow()
	if a.made("x") {
		t.Error("a call ran for a dead agent")
	}
}

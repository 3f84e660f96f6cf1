package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// D1, D2: the calls of a message are one batch, decided by clicks; nothing of it
// runs before all are decided, and what the agent says reaches the terminal.
// Hooks that are installed as well ask nobody a second time (REL-34).
func TestRunDecidesABatchInTheBrowser(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	s := a.hosted(g, scriptedmodel.Prompt(calls("touch x", "touch y"), scriptedmodel.Say("all done")))

	first := in.waitCard("touch x")
	second := in.waitCard("touch y") // before the first is decided
	first.focus()
	first.allow()
	if a.made("x") {
		t.Error("a call ran while another of its message waited")
	}
	second.focus()
	second.deny("not y")

	s.wantCode(0)
	if !a.made("x") || a.made("y") {
		t.Errorf("x was made: %v, y: %v", a.made("x"), a.made("y"))
	}
	a.sawRefusal("not y")
	if got := strings.TrimSpace(s.out.String()); got != "all done" {
		t.Errorf("the terminal shows %q", got)
	}
	first.waitHistory()
	settled, err := newApprover(t, g).c.Calls(t.Context(), "settled", "", 10)
	if err != nil || len(settled.Calls) != 2 {
		t.Errorf("%d calls were asked about, %v", len(settled.Calls), err)
	}
}

// Point by point in one session: an edited call and the model that is told (8),
// a sub-agent with its lineage (3), questions of both kinds (6), a mode from the
// page (3). The user gets the agent's own stream, and nothing of the protocol.
func TestRunEditsAsksAndSwitchesModes(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	p, a := newApprover(t, g), newAgent(t)
	sub := scriptedmodel.Prompt(scriptedmodel.Bash("touch sub"), scriptedmodel.Say("sub done"))
	s := a.hosted(g, scriptedmodel.Prompt(
		scriptedmodel.Bash("touch a"),
		scriptedmodel.Call("AskUserQuestion", map[string]any{"questions": []any{
			asking("Which database?", "Database", false, "Postgres", "Mongo"), asking("Which features?", "Features", true, "Auth", "Logs"), asking("Why?", "Why", false, "Fun", "Money")}}),
		scriptedmodel.Call("Agent", map[string]any{"description": "make sub", "subagent_type": "general-purpose", "prompt": sub}),
		scriptedmodel.Say("done")), "--output-format", "stream-json")

	c := p.wait("touch a")
	edited, err := p.c.Edit(t.Context(), c.ID, api.Edit{Digest: c.Digest, Input: json.RawMessage(`{"command":"touch b","description":"Scripted command"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.c.SetMode(t.Context(), api.SetMode{Agent: c.Agent, Session: c.Session.ID, Mode: "acceptEdits"}); err != nil {
		t.Fatal(err)
	}
	until(t, "the agent's new mode", func() bool { return strings.Contains(s.out.String(), `"permissionMode":"acceptEdits"`) })
	p.decide(edited, api.Decision{State: "allowed"})
	p.decide(p.wait("Which database"), api.Decision{State: "allowed", Answers: map[string]string{
		"Which database?": "Postgres", "Which features?": "Auth, Logs", "Why?": "because"}})
	p.allow("make sub")
	c = p.wait("touch sub")
	if c.Context.Via != "general-purpose: make sub" {
		t.Errorf("the sub-agent is shown as %q", c.Context.Via)
	}
	p.decide(c, api.Decision{State: "allowed"})

	s.wantCode(0)
	if a.made("a") || !a.made("b") || !a.made("sub") {
		t.Errorf("a was made: %v, b: %v, sub: %v", a.made("a"), a.made("b"), a.made("sub"))
	}
	if !a.told("its input was changed before it was allowed") {
		t.Error("the model was not told that its input was changed")
	}
	var answered bool
	for _, r := range a.model.Results() {
		answered = answered || strings.Contains(r.Text, `"Which database?"="Postgres"`) && strings.Contains(r.Text, `"Which features?"="Auth, Logs"`) && strings.Contains(r.Text, "because")
	}
	if !answered {
		t.Errorf("the model did not get the answers: %+v", a.model.Results())
	}
	for line := range strings.Lines(s.out.String()) {
		var m struct{ Type string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || strings.HasPrefix(m.Type, "control_") || m.Type == "stream_event" {
			t.Errorf("the user got %.80s (%v)", line, err)
		}
	}
}

// S8, V3: a plan is refused with feedback, then edited and carried out afresh in
// the mode that the person picked.
func TestRunCarriesOutAPlanAfresh(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	p, a := newApprover(t, g), newAgent(t)
	plan := func(text string) scriptedmodel.Turn {
		return scriptedmodel.Call("ExitPlanMode", map[string]any{"plan": text})
	}
	s := a.hosted(g, scriptedmodel.Prompt(plan("first plan"), plan("second plan"), scriptedmodel.Bash("touch old")), "--permission-mode", "plan", "--output-format", "stream-json")

	p.decide(p.wait("first plan"), api.Decision{State: "denied", Note: "smaller please"})
	c := p.wait("second plan")
	a.sawRefusal("smaller please")
	script := scriptedmodel.Prompt(scriptedmodel.Call("Write", map[string]any{"file_path": filepath.Join(a.project, "new"), "content": "x"}), scriptedmodel.Say("carried out"))
	input, err := json.Marshal(map[string]string{"plan": "edited " + script})
	if err != nil {
		t.Fatal(err)
	}
	c, err = p.c.Edit(t.Context(), c.ID, api.Edit{Digest: c.Digest, Input: input})
	if err != nil {
		t.Fatal(err)
	}
	p.decide(c, api.Decision{State: "allowed", Choice: "clearContextAndStart", Mode: "acceptEdits"})
	p.allow("/new") // the new session's mode is the agent's own; the gateway asks

	s.wantCode(0)
	if a.made("old") || !a.made("new") {
		t.Errorf("old was made: %v, new: %v", a.made("old"), a.made("new"))
	}
	if out := s.out.String(); !strings.Contains(out, `"permissionMode":"acceptEdits"`) || !strings.Contains(out, "carried out") {
		t.Errorf("the agent did not start afresh in the mode: %s", out)
	}
}

// The gateway is killed in mid-wait: the call goes on waiting, and the decision
// still counts. When it stays away, what waits is denied, with words.
func TestRunOutlivesTheGatewayAndFailsClosed(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	p, a := newApprover(t, g), newAgent(t)
	s := a.hostedBy(g, []string{"--give-up", "2s"}, wouldRun, "--", scriptedmodel.Prompt(scriptedmodel.Bash("touch x"), scriptedmodel.Bash("touch y"), scriptedmodel.Say("end")))

	c := p.wait("touch x")
	g.kill()
	g.start()
	p.decide(c, api.Decision{State: "allowed"})
	until(t, "x", func() bool { return a.made("x") })
	p.wait("touch y")
	g.kill()

	s.wantCode(0)
	if a.made("y") {
		t.Error("a call ran that nobody decided")
	}
	a.sawRefusal("cannot reach the gateway")
}

// Killed with -9, gatelatch run takes the agent along; a killed agent takes its
// question back, and its end is ours. An interrupt ends the turn.
func TestRunAndItsAgentEndTogether(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	p, a := newApprover(t, g), newAgent(t)
	s := a.hosted(g, touch("x"), wouldRun)
	c := p.wait("touch x")
	if err := exec.Command("kill", "-9", s.agentPID()).Run(); err != nil {
		t.Fatal(err)
	}
	s.wantCode(128 + int(syscall.SIGKILL))
	if got := p.state(c.ID); got != "withdrawn" {
		t.Errorf("the killed agent's call is %s", got)
	}

	s = a.hosted(g, touch("y"), wouldRun)
	c = p.wait("touch y")
	pid := s.agentPID()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "the agent to be gone", func() bool { return !exists("/proc/" + pid + "/exe") })
	p.decide(c, api.Decision{State: "allowed"})

	s = a.hosted(g, touch("z"), wouldRun)
	c = p.wait("touch z")
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil { // ends the turn, and with -p the agent
		t.Fatal(err)
	}
	s.wantCode(1)
	if got := p.state(c.ID); got != "withdrawn" {
		t.Errorf("the interrupted call is %s", got)
	}
	if a.made("x") || a.made("y") || a.made("z") {
		t.Error("a call ran that nobody decided")
	}

	s = a.hosted(g, scriptedmodel.Prompt(scriptedmodel.Bash("touch begun && sleep 100 && touch ended"), scriptedmodel.Say("end")))
	c = p.wait("touch begun")
	p.decide(c, api.Decision{State: "allowed"})
	until(t, "the call to run", func() bool { return a.made("begun") })
	if _, err := p.c.Interrupt(t.Context(), api.Interrupt{Agent: c.Agent, Session: c.Session.ID}); err != nil { // a person's
		t.Fatal(err)
	}
	s.wantCode(1)
	if a.made("ended") {
		t.Error("an interrupted call went on")
	}
}

// In each mode that asks nobody the host is still asked; and interrupting by one
// denial ends all calls of the message, and the turn.
func TestRunHoldsInEveryMode(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	p, a := newApprover(t, g), newAgent(t)
	for _, flags := range [][]string{
		{"--dangerously-skip-permissions"}, {"--permission-mode", "auto"},
		{"--dangerously-skip-permissions", "--safe-mode", "--settings", `{"disableAllHooks":true}`}, // the host's own are none of them
	} {
		s := a.hosted(g, scriptedmodel.Prompt(calls("touch x", "touch y"), scriptedmodel.Say("end")), flags...)
		first := p.wait("touch x")
		p.decide(p.wait("touch y"), api.Decision{State: "denied", Note: "stop it", Interrupt: true})
		p.decide(first, api.Decision{State: "allowed"})
		s.wantCode(1)
		if a.made("x") || a.made("y") {
			t.Errorf("%v: a call of an interrupted message ran", flags)
		}
	}
	if s := a.hosted(g, touch("x"), "--bare"); true {
		s.wantCode(1)
		if !strings.Contains(s.stderr.String(), "--bare can't be used here") {
			t.Errorf("--bare was met with %s", s.stderr.String())
		}
	}
}

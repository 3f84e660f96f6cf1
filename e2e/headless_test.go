package e2e

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// touch asks for one harmless, visible effect, and then ends the turn.
func touch(file string) string {
	return scriptedmodel.Prompt(scriptedmodel.Bash("touch "+file), scriptedmodel.Say("done"))
}

// wouldRun makes the agent itself content with a touch. Without it, a headless
// agent refuses the call on its own, and a broken gate would look like a denial.
const wouldRun = "--allowedTools=Bash(touch *)"

// wantDone fails the test unless the agent got to the end of its script.
func wantDone(t *testing.T, r result) {
	t.Helper()
	if r.IsError || r.Result != "done" {
		t.Errorf("claude ended with %+v, want the result \"done\"", r)
	}
}

func TestHeadlessCallRunsAfterAllowInTheBrowser(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	s := a.print(touch("x"))

	c := in.waitCard("touch x")
	if got := strings.Join(strings.Fields(c.text()), " "); !strings.Contains(got, "touch x") {
		t.Errorf("the card does not show the command: %s", got)
	}
	if a.made("x") {
		t.Error("the call ran before anybody decided")
	}
	c.allow()

	r := s.result()
	wantDone(t, r)
	if !a.made("x") || len(r.Denials) != 0 {
		t.Errorf("x was made: %v, denials: %v", a.made("x"), r.Denials)
	}
	c.waitHistory()
	if strays := a.model.Strays(); len(strays) > 0 {
		t.Errorf("the agent asked the model for more than messages: %v", strays)
	}
}

func TestHeadlessCallDeniedWithWordsDoesNotRun(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	s := a.print(touch("x"), wouldRun)

	c := in.waitCard("touch x")
	c.deny("not today")

	wantDone(t, s.result())
	if a.made("x") {
		t.Error("the denied call ran")
	}
	a.sawRefusal("not today")
	c.waitHistory()
}

// In this mode the agent itself asks nobody; only PreToolUse still holds.
func TestBypassModeStillAsks(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	// IS_SANDBOX: without it, claude refuses this mode to root.
	s := a.printEnv([]string{"IS_SANDBOX=1"}, touch("x"), "--dangerously-skip-permissions")

	in.waitCard("touch x").deny("")

	wantDone(t, s.result())
	if a.made("x") {
		t.Error("the denied call ran")
	}
}

// Where only PermissionRequest is hooked, the agent's own mode decides what
// needs a person, and the answer comes from the same page.
func TestHeadlessPermissionRequestAlone(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	a.dropHook("PreToolUse")
	s := a.print(touch("x"))

	in.waitCard("touch x").allow()

	wantDone(t, s.result())
	if !a.made("x") {
		t.Error("the allowed call did not run")
	}
}

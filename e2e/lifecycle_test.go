package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// lifecycle are the events at which the terminal may have answered, or left.
var lifecycle = []string{"PermissionDenied", "UserPromptSubmit", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "SessionStart", "SessionEnd"}

// Whatever a person does at the terminal, what they did not leave open does not
// stay on the page; and what they do on the page arrives at the terminal.
func TestTerminalAndPageStayTogether(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nallow:\n  - Bash(touch yes1)\ndeny:\n  - rule: Bash(touch no1)\n    why: never\n")
	a := gatedAgent(t, g)
	a.addHooks(lifecycle...)
	d, term := g.desk(), a.terminal()

	// Rules answer at once, without a dialog.
	term.say(scriptedmodel.Prompt(scriptedmodel.Bash("touch yes1"), scriptedmodel.Bash("touch no1"), scriptedmodel.Say("rules are through")))
	term.waitFor("● rules are through")
	if !a.made("yes1") || a.made("no1") {
		t.Errorf("yes1 was made: %v, no1: %v", a.made("yes1"), a.made("no1"))
	}
	a.sawRefusal("never")

	// Escape in the dialog.
	term.say(touch("x"))
	term.waitFor(dialog)
	d.await("touch x")
	term.answer("Escape", dialog)
	d.awaitNone()
	term.waitTimes("Interrupted", 1)

	// An edit on the page runs, and the model hears of it.
	term.say(scriptedmodel.Prompt(scriptedmodel.Bash("touch x"), scriptedmodel.Say("edited is through")))
	term.waitFor(dialog)
	d.allow(d.edit(d.await("touch x"), `{"command":"touch edited","description":"Scripted command"}`))
	term.waitFor("● edited is through")
	if a.made("x") || !a.made("edited") || !a.model.Saw("The user changed this call before allowing it") {
		t.Errorf("x was made: %v, edited: %v, and the model was told: %v", a.made("x"), a.made("edited"), a.model.Saw("The user changed"))
	}

	// Stop, with words that the host keeps to itself until the next prompt.
	term.say(touch("x"))
	term.waitFor(dialog)
	d.decide(d.await("touch x"), api.Decision{State: "denied", Interrupt: true, Note: "wrong branch"})
	term.waitTimes("Interrupted", 2)
	term.say(scriptedmodel.Prompt(scriptedmodel.Say("after the stop")))
	term.waitFor("● after the stop")
	if !a.model.Saw("The user stopped the turn before this and said: wrong branch") {
		t.Error("the words of the stop never reached the model")
	}

	// A sub-agent asks under its own name; leaving the session leaves nothing.
	sub := scriptedmodel.Prompt(scriptedmodel.Bash("touch sub"), scriptedmodel.Say("sub is through"))
	term.say(scriptedmodel.Prompt(scriptedmodel.Call("Agent", map[string]any{"description": "a part", "prompt": sub, "subagent_type": "general-purpose"}), scriptedmodel.Say("main is through")))
	if c := d.awaitTool("Agent"); c.Context.Via != "" {
		t.Errorf("the main agent asks as %q", c.Context.Via)
	} else {
		d.allow(c)
	}
	c := d.await(`"touch sub"`)
	if !strings.HasPrefix(c.Context.Via, "general-purpose ") {
		t.Errorf("the sub-agent asks as %q", c.Context.Via)
	}
	until(t, "the session to end", func() bool {
		_ = term.command("send-keys", "-t", "agent", "C-c").Run() // twice, soon after each other, ends it
		return !exists(filepath.Join("/proc", term.pid, "exe"))
	})
	d.awaitNone()
	if a.made("x") || a.made("sub") {
		t.Error("a call ran that nobody allowed")
	}
}

// awaitTool waits for a call of a tool.
func (d desk) awaitTool(tool string) (found api.Call) {
	d.t.Helper()
	until(d.t, "a call of "+tool, func() bool {
		for _, c := range d.pending() {
			if c.Tool == tool {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

// D5, S3: of two calls of a message that wait at once, stopping one stops both,
// and the turn.
func TestHeadlessStopEndsTheTurn(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nask:\n  - Read\n")
	a := gatedAgent(t, g)
	a.addHooks(lifecycle...)
	both := scriptedmodel.Turn{Content: []scriptedmodel.Block{
		{Tool: "Read", Input: map[string]any{"file_path": a.settingsFile()}}, {Tool: "Read", Input: map[string]any{"file_path": a.home + "/.claude.json"}},
	}}
	s := a.print(scriptedmodel.Prompt(both, scriptedmodel.Say("went on")))
	d := g.desk()
	until(t, "two calls", func() bool { return len(d.pending()) == 2 })
	calls := d.pending()
	if calls[0].Batch.Turn == "" || calls[0].Batch.Turn != calls[1].Batch.Turn {
		t.Errorf("the calls are of turns %q and %q", calls[0].Batch.Turn, calls[1].Batch.Turn)
	}
	d.decide(calls[0], api.Decision{State: "denied", Interrupt: true, Note: "not these"})
	if r := s.result(); r.Result == "went on" || r.Terminal != "hook_stopped" {
		t.Errorf("claude ended with %+v", r)
	}
	d.awaitNone()
	for _, c := range calls {
		c, err := d.client.Call(t.Context(), c.ID)
		if err != nil || c.State != "denied" || !c.Decided.Interrupt {
			raw, _ := json.Marshal(c.Decided)
			t.Errorf("%s is %s, %s, %v", c.ID, c.State, raw, err)
		}
	}
}

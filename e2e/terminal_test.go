package e2e

import (
	"testing"

	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// dialog is what the agent asks in the terminal while the page asks as well.
const dialog = "Do you want to proceed?"

// In a terminal both may answer: the agent's own dialog and the page. What the
// page decides takes the dialog away.
func TestTerminalDialogIsAnsweredInTheBrowser(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	term := a.terminal()

	term.say(scriptedmodel.Prompt(scriptedmodel.Bash("touch x"), scriptedmodel.Say("first turn over")))
	term.waitFor(dialog)
	in.waitCard("touch x").allow()
	term.waitFor("● first turn over")
	term.waitGone(dialog)
	if !a.made("x") {
		t.Error("the allowed call did not run")
	}

	term.say(scriptedmodel.Prompt(scriptedmodel.Bash("touch y"), scriptedmodel.Say("second turn over")))
	term.waitFor(dialog)
	in.waitCard("touch y").deny("not today")
	term.waitFor("● second turn over")
	term.waitGone(dialog)
	if a.made("y") {
		t.Error("the denied call ran")
	}
	a.sawRefusal("not today")
}

// What is answered in the terminal must not stay on the page as if it waited.
func TestTerminalAnswerTakesTheCardAway(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	term := a.terminal()

	term.say(touch("x"))
	term.waitFor(dialog)
	c := in.waitCard("touch x")
	term.press("Enter") // the dialog's first answer is Yes
	c.waitSettled()
	until(t, "the call to run", func() bool { return a.made("x") })
}

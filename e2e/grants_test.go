package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// P11, S3: what was allowed for a session is not asked again in it, until it is
// revoked on the page.
func TestAllowForASessionThenRevokeOnThePage(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, s := openInbox(t, g), newStub(t, g)
	const command, match = "git push origin main", "Bash(git push origin main)"

	first := s.propose(command)
	c := in.waitCard(command)
	c.press("remember")
	if got := c.value("match"); got != match {
		t.Fatalf("the page would remember %q, want %q", got, match)
	}
	c.press("remember-send")
	c.waitSettled()
	first.wantDecision("allow")

	second := s.propose(command)
	second.wantDecision("allow")
	if got := in.grants(); !strings.Contains(got, match) {
		t.Fatalf("the page lists as remembered: %s", got)
	}
	in.revokeAll()

	third := s.propose(command)
	in.tabTo("inbox")
	c = in.waitCard(command)
	if third.answered() {
		t.Error("a call was answered by what is revoked")
	}
	c.deny("")
	third.wantDecision("deny")
	in.wantNoComplaints()
}

// P4, P11: the agent runs what a person made of its call, and only after it was
// allowed as it is then.
func TestTheAgentRunsTheEditedCommand(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	s := a.print(touch("x"))

	c := in.waitCard("touch x")
	c.press("edit")
	field := chromedp.CSS(`[data-field="input"]`)
	if got := c.value("input"); got != "touch x" {
		t.Fatalf("the page edits %q", got)
	}
	c.do("edit the command", chromedp.SendKeys(field, "yz"))
	c.press("edit-send")
	c.awaitTrue("see the edited call", fmt.Sprintf(`document.querySelector(%q)?.innerText.includes("Edited by you")`, c.self()))
	if text := c.text(); !strings.Contains(text, "touch xyz") || a.made("x") || a.made("xyz") {
		t.Fatalf("made x: %v, xyz: %v; the card says %s", a.made("x"), a.made("xyz"), text)
	}
	c.allow()

	wantDone(t, s.result())
	if a.made("x") || !a.made("xyz") {
		t.Errorf("made x: %v, xyz: %v", a.made("x"), a.made("xyz"))
	}
	c.waitHistory()
	in.awaitTrue("see how it went", fmt.Sprintf(`document.querySelector('[data-settled="%s"]').innerText.includes("done, edited")`, c.id))
	in.wantNoComplaints()
}

// value is what stands in a field of the card.
func (c card) value(field string) string {
	c.t.Helper()
	sel := fmt.Sprintf(`%s [data-field=%q]`, c.self(), field)
	c.do("see the field "+field, chromedp.WaitVisible(chromedp.CSS(sel)))
	return read[string](c.tab, "read the field "+field, fmt.Sprintf(`document.querySelector(%q).value`, sel))
}

func (in inbox) tabTo(name string) {
	in.t.Helper()
	in.do("go to "+name,
		chromedp.Click(chromedp.CSS(fmt.Sprintf(`[data-tab=%q]`, name)), chromedp.NodeVisible),
		chromedp.WaitVisible(chromedp.CSS(fmt.Sprintf(`[data-tab=%q][aria-current="page"]`, name))))
}

// grants is all that the list of what is remembered says.
func (in inbox) grants() string {
	in.t.Helper()
	in.tabTo("rules")
	in.do("see what is remembered", chromedp.WaitVisible(chromedp.CSS(`[data-grant]`)))
	return read[string](in.tab, "read what is remembered", `document.querySelector(".grants").innerText`)
}

// revokeAll revokes what the list shows, each with one click.
func (in inbox) revokeAll() {
	in.t.Helper()
	button := chromedp.CSS(`[data-grant] [data-act="revoke"]`)
	for range read[int](in.tab, "count what is remembered", `document.querySelectorAll("[data-grant]").length`) {
		in.do("revoke", chromedp.Click(button, chromedp.NodeVisible))
	}
	in.do("see that it is revoked", chromedp.WaitNotPresent(button))
}

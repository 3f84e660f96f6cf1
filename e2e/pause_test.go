package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// One button stops everything: what waits and what comes is denied, until
// somebody says otherwise.
func TestPauseDeniesWhatWaitsAndWhatComes(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, s := openInbox(t, g), newStub(t, g)
	waits := s.propose("touch x")
	c := in.waitCard("touch x")

	in.click("pause")
	in.click("pause-confirm")
	c.waitSettled()
	waits.wantDecision("deny")
	s.propose("touch y").wantDecision("deny")

	in.click("unpause")
	in.waitButton("pause")
	later := s.propose("touch z")
	in.waitCard("touch z").allow()
	later.wantDecision("allow")
}

// click presses a button of the page that belongs to no card.
func (in inbox) click(act string) {
	in.t.Helper()
	in.do("press "+act, chromedp.Click(chromedp.CSS(`[data-act="`+act+`"]`), chromedp.NodeVisible))
}

// waitButton waits until the page offers an action.
func (in inbox) waitButton(act string) {
	in.t.Helper()
	in.do("wait for "+act, chromedp.WaitVisible(chromedp.CSS(`[data-act="`+act+`"]`)))
}

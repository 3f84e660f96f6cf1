package e2e

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// P10: a person lets a session edit files in its project: what waits is then
// allowed by itself, the rest still waits, and one click ends it.
func TestAcceptEditsOnThePageThenBackToDefault(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, s := openInbox(t, g), newStub(t, g)
	write := func(file string) *proposal {
		return s.proposeTool("Write", map[string]any{"file_path": file, "content": "hello\n"})
	}

	edit, command := write(filepath.Join(s.project, "inside.txt")), s.propose("touch x")
	inside := in.waitCard("inside.txt")
	in.waitCard("touch x")

	in.click("mode")
	in.chooseMode("acceptEdits")
	in.awaitTrue("see the banner", `document.querySelector(".bar-notice")?.innerText.includes("accepts edits")`)
	inside.waitSettled()
	edit.wantDecision("allow")
	outside := write(filepath.Join(tempDir(t), "outside.txt"))
	in.waitCard("outside.txt").deny("")
	outside.wantDecision("deny")
	write(filepath.Join(s.project, "more.txt")).wantDecision("allow")

	in.click("mode-default")
	in.awaitTrue("see the banner go", `!document.querySelector(".bar-notice .modes")`)
	later := write(filepath.Join(s.project, "later.txt"))
	in.waitCard("later.txt").deny("")
	later.wantDecision("deny")

	if command.answered() {
		t.Error("a command was answered by a mode for edits")
	}
	in.waitCard("touch x").allow()
	command.wantDecision("allow")
	in.wantNoComplaints()
}

// P10: from the card of a file edit, in two steps; a choice that somebody else
// makes shows by itself.
func TestAllowFileEditsFromACard(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, s := openInbox(t, g), newStub(t, g)
	other := inbox{in.sibling()}
	other.do("open the page a second time", chromedp.Navigate(g.url))
	other.waitLive()

	edit := s.proposeTool("Write", map[string]any{"file_path": filepath.Join(s.project, "a.txt"), "content": "hello\n"})
	c := in.waitCard("a.txt")
	c.press("remember")
	in.do("choose file edits", chromedp.Click(chromedp.CSS(`input[name="scope"][value="acceptEdits"]`), chromedp.NodeVisible))
	if edit.answered() {
		t.Error("choosing without pressing the button answered the call")
	}
	c.press("remember-send")
	edit.wantDecision("allow")
	other.awaitTrue("see it on the other page", `document.querySelector(".bar-notice")?.innerText.includes("accepts edits")`)
	in.wantNoComplaints()
}

// chooseMode takes a mode in the open panel of a session and confirms it.
func (in inbox) chooseMode(mode string) {
	in.t.Helper()
	send := chromedp.CSS(`[data-act="mode-send"]:not([aria-disabled="true"])`)
	in.do("choose "+mode,
		chromedp.Click(chromedp.CSS(`.mode-panel input[value="`+mode+`"]`), chromedp.NodeVisible),
		chromedp.Click(send, chromedp.NodeVisible),
		chromedp.WaitNotPresent(chromedp.CSS(`.mode-panel`)))
}

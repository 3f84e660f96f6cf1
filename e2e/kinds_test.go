package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatelatch/gatelatch"
)

// P9: a notebook's cell, a file that is not there yet and a tool that nobody
// knows are shown, too; and what is new since a similar call was allowed.
func TestCardOfOtherToolsAndWhatIsNew(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	book := d.file("a.ipynb", `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"code","id":"one","metadata":{},"source":["x = 1\n","y = 2"],"outputs":[],"execution_count":null}]}`)
	d.propose("cell", d.call("NotebookEdit", map[string]any{"notebook_path": book, "cell_id": "one", "new_source": "x = 1\ny = 3"}))
	d.propose("new", d.call("Write", map[string]any{"file_path": filepath.Join(d.project, "new.txt"), "content": "first line\nlast line\n"}))
	d.propose("unknown", d.call("Teleport", map[string]any{"where": map[string]any{"deep": []any{1, "</pre><b>two</b>"}}}))
	d.propose("first", d.bash("touch a.txt"))

	in := openInbox(t, g)
	c := in.waitCard("a.ipynb")
	c.wantPart("tr", "y = 2")
	c.wantPart("tr", "y = 3")
	c = in.waitCard("new.txt")
	c.wantPart(".content pre, .diff", "last line")
	c.wantPart(`[data-effect="write"]`, "new.txt")
	c = in.waitCard("Teleport")
	c.wantPart("pre, .form", "</pre><b>two</b>")
	c.wantPart(`[data-effect="net"]`, "Not known")

	in.waitCard("touch a.txt").allow()
	d.propose("second", d.bash("touch a.txt ../b.txt"))
	c = in.waitCard("touch a.txt ../b.txt")
	c.wantPart(".card-body", "New since last time")
	c.wantPart(".since", "b.txt")
	in.wantNoComplaints()
}

// P11: a denial can end the agent's turn, and say why.
func TestDenyAndStopTheAgent(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	b := d.propose("one", d.bash("touch x"))
	in := openInbox(t, g)
	c := in.waitCard("touch x")
	c.press("deny-say")
	note := chromedp.CSS(`textarea[data-field="note"]`)
	in.do("say why", chromedp.WaitVisible(note), chromedp.SendKeys(note, "Wait for Mira."))
	c.press("deny-stop")
	c.waitSettled()
	if got := d.now(b, 0); got.State != gatelatch.Denied || got.Decided == nil || !got.Decided.Interrupt || got.Decided.Note != "Wait for Mira." {
		t.Errorf("the call is %s, decided %+v", got.State, got.Decided)
	}
	in.wantNoComplaints()
}

// P10: bypass holds for a time, which the banner counts down, and ends with one
// click; what is denied stays denied.
func TestBypassIsForATime(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\ndeny: [\"Bash(sudo:*)\"]\n")
	d := newDrafter(t, g)
	b := d.propose("one", d.bash("touch x"))
	in := openInbox(t, g)
	c := in.waitCard("touch x")
	in.click("mode")
	in.chooseMode("bypassPermissions")
	in.awaitTrue("see the banner count down", `/\b(14|15):\d\d|\d+ min/.test(document.querySelector(".notice.modes.is-strong")?.innerText)`)
	c.waitSettled()
	if got := d.now(b, 0); got.State != gatelatch.Allowed {
		t.Errorf("what waited is %s", got.State)
	}
	if got := d.propose("two", d.bash("sudo ls")).Calls[0]; got.State != gatelatch.Denied {
		t.Errorf("what is denied is %s", got.State)
	}
	if got := d.propose("three", d.bash("touch y")).Calls[0]; got.State != gatelatch.Allowed {
		t.Errorf("another call is %s", got.State)
	}
	in.wantAccessible("a session that bypasses")
	in.click("mode-default")
	in.awaitTrue("see the banner go", `!document.querySelector(".notice.modes")`)
	if got := d.propose("four", d.bash("touch z")).Calls[0]; got.State != gatelatch.Pending {
		t.Errorf("afterwards a call is %s", got.State)
	}
	in.wantNoComplaints()
}

// SEC-22: a line of half a megabyte is drawn in parts, and allowed only after its end
// was in view. Whatever stands in the middle of it is on the card then.
func TestAVeryLongLine(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	half := strings.Repeat("x", 240_000)
	file := d.file("min.js", "a = 1\n")
	calls := map[string]gatelatch.ProposedCall{
		"Write": d.call("Write", map[string]any{"file_path": filepath.Join(d.project, "one.txt"), "content": half + "EVIL" + half}),
		"Edit":  d.call("Edit", map[string]any{"file_path": file, "old_string": "a = 1", "new_string": "a = 2;" + half + "EVIL" + half}),
	}
	in := openInbox(t, g)
	for name, call := range calls {
		d.session.ID = name
		b := d.propose(name, call)
		c := in.waitCard(map[string]string{"Write": "one.txt", "Edit": "min.js"}[name])
		if !c.off("allow") || strings.Contains(c.text(), "EVIL") {
			t.Errorf("%s: it could be allowed unseen", name)
		}
		c.tap(`[data-act="show-all"]`)
		c.awaitTrue(name+": see all of it", fmt.Sprintf(`document.querySelector(%q)?.textContent.includes("EVIL")`, c.self()))
		c.awaitTrue(name+": go to the end and be able to allow it", fmt.Sprintf(`(document.querySelector(".gap-end")?.scrollIntoView(), !!document.querySelector(%q))`,
			c.self()+` [data-act="allow"]:not([aria-disabled="true"])`))
		if most := read[int](in.tab, "measure the parts", `Math.max(...[...document.querySelectorAll(".is-part")].filter(e => !e.querySelector(".is-part")).map(e => e.textContent.length))`); most > 40_000 {
			t.Errorf("%s: %d characters are drawn in one piece", name, most)
		}
		// Its parts get their true heights now, which moves the card and disarms it.
		read[bool](in.tab, "count anew", `(window.still = 0, true)`)
		c.awaitTrue("be still again", `(window.still = document.querySelector('[data-act="allow"]:not([aria-disabled="true"])') ? window.still + 1 : 0) > 3`)
		c.allow()
		if got := d.now(b, 0); got.State != gatelatch.Allowed {
			t.Errorf("%s is %s", name, got.State)
		}
	}
	in.wantNoComplaints()
}

// On a phone, where a card has the whole screen, it says itself why it can't be
// decided: not all of it was seen, or the gateway is gone.
func TestAPhoneSaysWhyNothingCanBePressed(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	d.propose("long", d.bash("touch start\n"+filler(20_000)))
	d.propose("short", d.bash("touch short"))
	in := inbox{newTab(t)}
	in.look(views[2])
	in.login(g.loginURL())
	c := in.waitCard("touch start")
	c.wantPart(".decide-status", "until you have seen all of it")
	in.wantAccessible("a long card on a phone")
	in.list(g)
	c = in.waitCard("touch short")
	if said := c.part(".decide-status"); said != "" {
		t.Errorf("it says %q", said)
	}
	g.kill()
	in.awaitTrue("be told", `document.querySelector("article.card .decide-status")?.innerText.includes("No connection")`)
	g.start()
	in.awaitTrue("go on", `document.querySelector("article.card .decide-status")?.innerText === ""`)
}

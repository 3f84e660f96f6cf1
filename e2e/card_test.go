package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatelatch/gatelatch"
)

// part reads one element of the card as a person sees it.
func (c card) part(selector string) string {
	c.t.Helper()
	return read[string](c.tab, "read "+selector, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText.replace(/\s+/g, " ")).join(" | ")`, c.self()+" "+selector))
}

func (c card) wantPart(selector, want string) {
	c.t.Helper()
	if got := c.part(selector); !strings.Contains(got, want) {
		c.t.Errorf("%s says %q, want %q in it", selector, got, want)
	}
}

// off reports whether a button does nothing although the card is still.
func (c card) off(act string) bool {
	c.t.Helper()
	c.do("wait until it is armed", chromedp.WaitVisible(chromedp.CSS(c.self()+` [data-act="deny"]:not([aria-disabled="true"])`)))
	return read[bool](c.tab, "look at "+act, fmt.Sprintf(`document.querySelector(%q).getAttribute("aria-disabled") === "true"`, c.self()+fmt.Sprintf(" [data-act=%q]", act)))
}

func (c card) tap(selector string) {
	c.t.Helper()
	c.do("click "+selector, chromedp.Click(chromedp.CSS(c.self()+" "+selector), chromedp.NodeVisible))
}

const asksForEnv = "version: 1\nask: [\"Read(.env*)\"]\n"

// P9: the card says what would run, what it touches and why it is asked, each
// tool in its own way.
func TestCardSaysWhatMatters(t *testing.T) {
	t.Parallel()
	g := startGateway(t, asksForEnv)
	d := newDrafter(t, g)
	retry := d.file("src/retry.ts", strings.Repeat("// head\n", 20)+"const MAX = 5;\nconst BASE = 200;\n"+strings.Repeat("// tail\n", 20))
	seed := d.file("seed.sql", "BEGIN;\nDROP TABLE a;\n")
	run := d.bash("cp .env.test x && rm -r dist ../away; make")
	run.Claim = "only a harmless build"
	d.propose("one", run)
	d.propose("two",
		d.call("Edit", map[string]any{"file_path": retry, "old_string": "MAX = 5;", "new_string": "MAX = 4;"}),
		d.call("Write", map[string]any{"file_path": seed, "content": "BEGIN;\nSELECT 1;\n"}),
		d.call("mcp__github__create_pr", map[string]any{"title": "Rotate", "draft": true, "n": 3, "<b>": "<img src=x onerror=alert(1)>"}))

	in := openInbox(t, g)
	c := in.waitCard("cp .env.test")
	c.wantPart(".says", "Deletes away outside the project")
	c.wantPart(`[data-effect="delete"]`, "2 paths")
	c.wantPart(`[data-effect="secret"]`, ".env.test")
	c.wantPart(`[data-effect="net"]`, "Not known")
	c.wantPart(".part:nth-child(2)", "rm -r dist ../away")
	c.wantPart(".part:nth-child(2) .part-does", "outside the project")
	c.wantPart(".part mark.asked", ".env.test")
	c.wantPart(".reason", "Read(.env*) · user layer · policy.yaml:2")
	c.wantPart(".claim", "only a harmless build")
	c.tap(`.seg label:nth-of-type(2)`)
	c.wantPart("pre.exact", "cp .env.test x && rm -r dist ../away; make")

	c = in.waitCard("retry.ts")
	c.wantPart(`[data-effect="write"]`, "src/retry.ts")
	c.wantPart(`[data-effect="outside"]`, "None")
	c.wantPart(".diff-head", "compared with the file as it is now")
	c.wantPart(".split tr:nth-child(4)", "21 removed const MAX = 5; 21 added const MAX = 4;")
	c.tap(`.diff .seg label:nth-of-type(2)`)
	c.wantPart(".unified tr.is-add", "21 + const MAX = 4;")

	c = in.waitCard("seed.sql")
	c.wantPart("tr.is-del", "DROP TABLE a;")
	c.wantPart("tr.is-add", "SELECT 1;")

	c = in.waitCard("create_pr")
	c.wantPart(".says", "Calls create_pr on github")
	c.wantPart(".form", "<img src=x onerror=alert(1)>")
	c.wantPart(`[data-effect="secret"]`, "Not known")
	if n := read[int](in.tab, "look for images", `document.querySelectorAll("article img, article b b").length`); n > 0 {
		t.Error("a name of the agent became markup")
	}
	in.wantNoComplaints()
}

// SEC-22, SEC-23: nothing is cut silently, nothing hidden, and what is long is
// allowed only after it was seen.
func TestHostileAndLongInputs(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	middle := strings.Repeat("echo fine\n", 700) + "touch evil\n" + strings.Repeat("echo fine\n", 700)
	long := d.propose("long", d.bash("echo start\n"+middle+"echo end"))
	d.propose("line", d.call("Write", map[string]any{"file_path": filepath.Join(d.project, "one.txt"), "content": strings.Repeat("x", 900_000) + "EVIL"}))
	d.propose("odd", d.bash("ls docs\u202etxt.sh\u200b \x1b[2K; \u0441url <script>alert(1)</script>"))

	in := openInbox(t, g)
	c := in.waitCard("docs")
	for _, name := range []string{"⟨U+202E⟩", "⟨U+200B⟩", "⟨ESC⟩", "⟨U+0441⟩", "<script>alert(1)</script>"} {
		c.wantPart("pre.exact, .parts", name)
	}
	c.wantPart(".bound", "4 hidden or misleading characters")

	c = in.waitCard("one.txt")
	c.wantPart(".content pre", "EVIL")
	if !c.off("allow") {
		t.Error("a text of 900,000 characters could be allowed unseen")
	}

	c = in.waitCard("echo start")
	c.wantPart("pre.exact", "echo end")
	c.wantPart(".gap-unread", "lines between, not seen yet")
	if !c.off("allow") || strings.Contains(c.part("pre.exact"), "evil") {
		t.Error("a long command could be allowed unseen")
	}
	c.tap(`[data-act="show-all"]`)
	c.wantPart("pre.exact", "touch evil")
	if !c.off("allow") {
		t.Error("it was opened, but its end was not yet in view")
	}
	in.do("scroll to its end", chromedp.ScrollIntoView(chromedp.CSS(c.self()+" .gap-end")))
	// The note that it was not read goes away, which moves the card and disarms it.
	in.awaitTrue("be still again", `(window.still = document.querySelector(".gap-end:not(.gap-unread)") &&
		document.querySelector('[data-act="allow"]:not([aria-disabled="true"])') ? (window.still ?? 0) + 1 : 0) > 5`)
	c.allow()
	if state := d.now(long, 0).State; state != gatelatch.Allowed {
		t.Errorf("the long command is %s", state)
	}
	in.wantNoComplaints()
}

// SEC-61 and S3: two people, one call: the first decides, the other is told. A
// batch is decided at once with each call listed; what is grave needs a word.
func TestDecidingBesideOthers(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	file := d.file("a.txt", "one\n")
	grave := d.propose("grave", d.bash("rm -r ../away"))
	batch := d.propose("batch",
		d.call("Edit", map[string]any{"file_path": file, "old_string": "one", "new_string": "two"}), d.bash("touch x"), d.bash("rm y"))

	in, other := openInbox(t, g), openInbox(t, g)
	mine, theirs := in.waitCard("rm -r ../away"), other.waitCard("rm -r ../away")
	mine.press("allow")
	field := chromedp.CSS(`[data-field="confirm"]`)
	in.do("type the word", chromedp.WaitVisible(field), chromedp.SendKeys(field, "awa"))
	theirs.press("deny")
	theirs.waitSettled()
	in.awaitTrue("be told", `document.querySelector("article.card[data-settled]")?.innerText.includes("Denied by")`)
	if state := d.now(grave, 0).State; state != gatelatch.Denied {
		t.Errorf("the call is %s", state)
	}

	in.wantNoComplaints() // the browser itself will complain of the refusal
	d.propose("race", d.bash("touch race"))
	mine, theirs = in.waitCard("touch race"), other.waitCard("touch race")
	in.holdDecision(mine, func() { theirs.deny("") })
	in.awaitTrue("read who was faster", `/Already decided by .+ as denied/.test(document.querySelector("article.card[data-settled] .news")?.innerText)`)

	c := other.waitCard("touch x")
	c.tap(`[data-act="all"]`)
	other.do("see the list", chromedp.WaitVisible(chromedp.CSS(".all")))
	c.wantPart(".all li:nth-child(1)", "two")
	ticks := read[string](other.tab, "read the ticks", `[...document.querySelectorAll(".all > li > input")].map(i => i.checked).join()`)
	if ticks != "true,true,false" {
		t.Errorf("ticked are %s", ticks)
	}
	c.press("all-allow")
	c.waitSettled()
	last := other.waitCard("rm y")
	last.deny("Keep it.")
	for i, want := range []gatelatch.State{gatelatch.Allowed, gatelatch.Allowed, gatelatch.Denied} {
		if got := d.now(batch, i); got.State != want {
			t.Errorf("call %d is %s, want %s", i+1, got.State, want)
		}
	}
	other.wantNoComplaints()
}

// S7, S8, P11 on a phone: a question, a plan that is edited, and a rule that is
// tried before it is remembered.
func TestAnswersOnAPhone(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	before := d.propose("before", d.bash("touch a"))
	ask := d.propose("ask", d.call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
		"question": "Which store?", "header": "Store", "multiSelect": true, "options": []any{
			map[string]any{"label": "SQLite", "description": "One file"}, map[string]any{"label": "PostgreSQL", "description": "Several"},
		},
	}}}))
	plan := d.propose("plan", d.call("ExitPlanMode", map[string]any{"plan": "# Rotate\n\n1. **Make** a key\n2. [vault](https://vault.example/x)\n\n<img src=x onerror=alert(1)>"}))

	in := inbox{newTab(t)}
	in.look(views[2])
	in.login(g.loginURL())
	c := in.waitCard("touch a")
	c.allow()
	in.list(g)

	c = in.waitCard("Which store?")
	if !c.off("allow") {
		t.Error("a question without an answer could be sent")
	}
	c.tap(".choice:nth-child(1)")
	other := chromedp.CSS(c.self() + " .other .text")
	in.do("add words", chromedp.SendKeys(other, "and a backup"))
	c.allow()
	if got := d.now(ask, 0).Decided.Answers["Which store?"]; got != "SQLite, and a backup" {
		t.Errorf("the answer is %q", got)
	}
	in.list(g)

	c = in.waitCard("Rotate")
	c.wantPart(".md", "vault (https://vault.example/x)")
	c.wantPart(".md", "<img src=x onerror=alert(1)>")
	if n := read[int](in.tab, "look for links", `document.querySelectorAll(".md a, .md img").length`); n > 0 {
		t.Error("a plan has links or images")
	}
	c.press("edit")
	input := chromedp.CSS(`textarea[data-field="input"]`)
	in.do("edit the plan", chromedp.WaitVisible(input), chromedp.SendKeys(input, "\n3. Tell Mira"))
	c.press("edit-send")
	in.awaitTrue("see it again", `document.querySelector(".md")?.innerText.includes("Tell Mira")`)
	c.tap(`input[value="clearContextAndStart"]`)
	c.allow()
	if got := d.now(plan, 0); got.Decided.Choice != "clearContextAndStart" || !strings.Contains(string(got.Input), "Tell Mira") {
		t.Errorf("the plan was decided as %+v with %s", got.Decided, got.Input)
	}
	in.list(g)

	d.propose("after", d.bash("touch a"))
	c = in.waitCard("touch a")
	c.press("remember")
	tried := in.awaitTrue("have it tried", `[document.querySelector(".trial")?.innerText].find(x => x?.startsWith("Of the last"))`)
	if !strings.Contains(tried, "Of the last 1 call it reaches, it would have allowed 1:") || !strings.Contains(tried, "touch a") {
		t.Errorf("the trial says %q", tried)
	}
	if wide := read[int](in.tab, "measure", `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d wide", wide)
	}
	if got := d.now(before, 0).State; got != gatelatch.Allowed {
		t.Errorf("the first call is %s", got)
	}
	c.press("remember-send")
	c.waitSettled()
	if again := d.propose("again", d.bash("touch a")); again.Calls[0].State != gatelatch.Allowed {
		t.Errorf("the same call again is %s", again.Calls[0].State)
	}
	in.wantNoComplaints()
}

// list shows the list of a gateway, whatever card was open.
func (in inbox) list(g *gateway) {
	in.t.Helper()
	in.do("load the list", chromedp.Navigate(g.url))
	in.waitLive()
}

// P10: the chip says the mode that a file sets, and the page speaks Chinese
// when that is chosen.
func TestModeOfAFileAndAnotherLanguage(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nmode: plan\n")
	d := newDrafter(t, g)
	d.propose("one", d.bash("touch x"))
	in := openInbox(t, g)
	in.waitCard("touch x")
	in.awaitTrue("see the chip", `document.querySelector('[data-act="mode"]')?.innerText.includes("plan")`)
	in.click("mode")
	in.awaitTrue("see where it is written", `document.querySelector(".mode-panel")?.innerText.includes("policy.yaml:2")`)
	in.click("mode-close")
	in.do("open the menu", chromedp.Click(chromedp.CSS("button.who:not(.bell)"), chromedp.NodeVisible))
	in.pick("language", "zh")
	in.awaitTrue("read Chinese", `document.querySelector(".says")?.innerText.includes("写入") && document.documentElement.lang === "zh-Hans"`)
	in.do("load it again", chromedp.Navigate(g.url))
	in.waitLive()
	c := in.waitCard("touch x")
	c.wantPart(`[data-act="allow"]`, "允许一次")
	in.wantNoComplaints()
}

// A file that an agent names is compared with only if it is a plain one inside
// its project.
func TestOnlyFilesOfTheProjectAreShown(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	outside := filepath.Join(g.home, "private.txt")
	if err := os.WriteFile(outside, []byte("top secret words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(d.project, "link.txt")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	env := d.file(".env", "KEY=top secret words\n")
	for i, path := range []string{outside, link, env} {
		d.propose(fmt.Sprint(i), d.call("Write", map[string]any{"file_path": path, "content": "new\n"}))
	}
	in := openInbox(t, g)
	for _, name := range []string{"private.txt", "link.txt", ".env"} {
		c := in.waitCard(name)
		if text := c.text(); strings.Contains(text, "top secret") || !strings.Contains(text, "new") {
			t.Errorf("the card of %s shows %s", name, text)
		}
	}
}

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatelatch/gatelatch/api"
)

// write types into a field that has the focus after a click.
func (in inbox) write(field, text string) {
	in.t.Helper()
	sel := chromedp.CSS(fmt.Sprintf(`[data-field=%q]`, field))
	in.do("write into "+field, chromedp.WaitVisible(sel), chromedp.SendKeys(sel, text))
}

// Rules are listed and searched with their use; a call is explained with the part
// that was asked about; a suggestion is tried on what happened, shown as a change
// and applied; then the call is no longer asked, and the trail says who did it.
func TestRulesAreExplainedSuggestedAndApplied(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nask:\n  - Bash(git push:*)\ndeny:\n  - rule: Bash(sudo:*)\n    why: Agents do not become root\nallow:\n  - Bash(git status)\n")
	in, c := openInbox(t, g), newCrowd(t, g)
	c.past()
	in.tabTo("rules")
	in.do("see the rules", chromedp.WaitVisible(chromedp.CSS(`[data-rule="Bash(git status)"]`)))
	in.awaitTrue("see how often one was used", `document.querySelector('[data-rule="Bash(git status)"]').innerText.match(/\b5\b.*ago/s)`)
	in.write("filter", "root")
	in.awaitTrue("find one rule", `[...document.querySelectorAll("[data-rule]")].map(e => e.dataset.rule).join() === "Bash(sudo:*)"`)
	in.keys("forget the words", string(escape))

	in.write("explain-input", "echo hi && git push -f\n")
	in.awaitTrue("see the verdict", `document.querySelector(".explain-said")?.dataset.said === "ask"`)
	said := read[string](in.tab, "read it", `document.querySelector(".explain-said").innerText + "|" + [...document.querySelectorAll(".explain-said mark")].map(e => e.innerText.trim()).filter(Boolean).join(" ")`)
	if !strings.Contains(said, "Bash(git push:*)") || !strings.Contains(said, "policy.yaml:3") || !strings.HasSuffix(said, "|git push -f") {
		t.Errorf("the page explains %s", said)
	}

	apply := `[data-suggested="Bash(npm test)"] [data-act="try"]`
	in.do("try what is suggested", chromedp.WaitVisible(chromedp.CSS(apply)), chromedp.Click(chromedp.CSS(apply)))
	in.awaitTrue("see that it is safe", `document.querySelector("[data-tried]")?.dataset.tried === "true"`)
	if got := read[string](in.tab, "read the trial", `document.querySelector(".trial").innerText`); !strings.Contains(got, "6 of 16 questions") || !strings.Contains(got, "path: /home/dev/checkout-api") || !strings.Contains(got, "Nothing that was refused would be allowed") {
		t.Errorf("the trial says %s", got)
	}
	in.wantAccessible("a rule that is tried")
	add := chromedp.CSS(`[data-act="add-rule"]`)
	in.do("press without having read", chromedp.Click(add))
	if text := g.policyText(); strings.Contains(text, "npm test") {
		t.Fatalf("a rule was added unseen:\n%s", text)
	}
	in.do("read it, and add it", chromedp.Click(chromedp.CSS(`[data-field="seen"]`)), chromedp.Click(chromedp.CSS(`[data-act="add-rule"]:not([aria-disabled])`)))
	in.awaitTrue("see that it is in force", `document.querySelector(".applied")?.innerText.includes("is in force")`)
	in.awaitTrue("see it among the rules", `document.querySelector('[data-rule="Bash(npm test)"]')`)
	if text := g.policyText(); !strings.Contains(text, "- path: /home/dev/checkout-api") || !strings.Contains(text, "- Bash(npm test)") || !strings.Contains(text, "Agents do not become root") {
		t.Errorf("policy.yaml is\n%s", text)
	}
	if b := c.run("checkout-api", "npm test"); b.Calls[0].State != "allowed" {
		t.Errorf("the call is %s, want allowed by the new rule", b.Calls[0].State)
	}
	if b := c.run("infra-live", "npm test"); b.Calls[0].State != "pending" {
		t.Errorf("in another project the call is %s, want pending", b.Calls[0].State)
	}
	trail, err := c.person.Trail(t.Context(), 0, 1000)
	if err != nil || !slices.ContainsFunc(trail.Events, func(e api.Event) bool {
		return e.Kind == "policy.changed" && e.By.Kind == "person" && strings.Contains(string(e.Body), "allow Bash(npm test), added in the page")
	}) {
		t.Errorf("the trail does not say who changed the rules (%v)", err)
	}
	in.wantNoComplaints()
}

func (g *gateway) policyText() string {
	g.t.Helper()
	raw, err := os.ReadFile(filepath.Join(g.config, "policy.yaml"))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(raw)
}

// What was asked most becomes a rule from where it is counted. A kind of call
// that a person refused once can't: the trial says so, and there is no button.
func TestInsightMakesRules(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, c := openInbox(t, g), newCrowd(t, g)
	c.past()
	in.tabTo("insight")
	in.awaitTrue("see what was asked", `document.querySelector(".lead")?.dataset.asked === "16"`)
	got := read[string](in.tab, "read it", `document.querySelector(".lead").innerText + [...document.querySelectorAll("[data-most]")].slice(0, 2).map(e => "|" + e.dataset.most + e.innerText.replace(/\s+/g, " ")).join("")`)
	if !strings.Contains(got, "rules answered 5 of 21 calls") || !strings.Contains(got, "|npm testnpm test Bash 6 100 %") {
		t.Errorf("the page tells %s", got)
	}
	if n := read[int](in.tab, "count bars", `document.querySelectorAll(".chart")[0].querySelectorAll("rect").length`); n != 30 {
		t.Errorf("%d bars, want 30", n)
	}
	in.do("ask for a week", chromedp.Click(chromedp.CSS(`input[name="period"][value="7"]`)))
	in.awaitTrue("see a week", `document.querySelectorAll(".chart")[0].querySelectorAll("rect").length === 7`)
	in.do("make a rule", chromedp.Click(chromedp.CSS(`[data-most="npm test"] [data-act="make-rule"]`)))
	in.awaitTrue("be at the trial", `location.pathname === "/rules" && document.querySelector("[data-tried]")?.dataset.tried === "true"`)
	in.do("leave it", chromedp.Click(chromedp.CSS(`[data-act="back-rule"]`)))

	c.decide(c.run("checkout-api", "npm test"), "denied", "not now")
	in.tabTo("insight")
	in.do("make a rule again", chromedp.WaitVisible(chromedp.CSS(`[data-most="npm test"]`)), chromedp.Click(chromedp.CSS(`[data-most="npm test"] [data-act="make-rule"]`)))
	in.awaitTrue("see that it is not safe", `document.querySelector(".trial")?.innerText.includes("1 call that a person refused") || document.querySelector("[data-tried]")?.dataset.tried === "false"`)
	if read[bool](in.tab, "look for a way", `!!document.querySelector('[data-field="seen"]')`) {
		t.Error("the page offers to apply what a person refused")
	}
}

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	chrome "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pick chooses in a list of choices, as a person does with the keyboard.
func (in inbox) pick(field, value string) {
	in.t.Helper()
	sel := chromedp.CSS(fmt.Sprintf(`select[data-field=%q]`, field))
	in.do("choose "+field, chromedp.WaitVisible(sel), chromedp.Focus(sel), chromedp.KeyEvent(kb.Home))
	for range 30 {
		if read[string](in.tab, "read the choice", fmt.Sprintf(`document.querySelector('select[data-field=%q]').value`, field)) == value {
			return
		}
		in.do("go down", chromedp.KeyEvent(kb.ArrowDown))
	}
	in.t.Fatalf("%s has no %s", field, value)
}

// askAs asks about a command with a key of its own.
func (g *gateway) askAs(name, command string) {
	g.t.Helper()
	key := strings.TrimSpace(g.cli("keys", "add", name, "--role", "agent"))
	body := fmt.Sprintf(`{"session":{"id":"ses-%[1]s","name":%[1]q,"project":"/home/dev/%[1]s"},"message":"m","calls":[{"ref":"r","tool":"Bash","dir":"/home/dev/%[1]s","input":{"command":%[2]q}}]}`, name, command)
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.url+"/v1/batches", strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if said, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		g.t.Fatalf("%s asks: %s %s, %v", name, res.Status, said, err)
	}
}

// Every call is there with who decided, why and how long it took; it can be
// narrowed, linked to, checked against its chain and taken along.
func TestHistoryIsNarrowedLinkedAndExported(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, c := openInbox(t, g), newCrowd(t, g)
	c.past()
	in.tabTo("history")
	rows := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll("tr[data-settled]").length === %d`, n)
	}
	in.awaitTrue("see all", rows(21))
	in.awaitTrue("see who, why and how long", `[...document.querySelectorAll("tr[data-settled]")].some(r => /Denied.*git push origin main.*docs-site.*Not on a Friday\.\s*(< 1|\d+) s$/s.test(r.innerText))`)
	in.awaitTrue("see that a rule decided", `[...document.querySelectorAll("tr[data-settled]")].some(r => /git status.*rule exec reads: allow.*It only reads/s.test(r.innerText))`)
	in.awaitTrue("see that the chain is whole", `/^Audit chain whole up to #\d+/.test(document.querySelector(".audit").innerText)`)

	in.pick("outcome", "denied")
	in.awaitTrue("see what was denied", rows(3))
	in.write("filter", "friday")
	in.awaitTrue("find one by its note", rows(1))
	in.keys("forget the words", string(escape))
	in.pick("outcome", "")
	in.pick("tool", "Edit")
	in.awaitTrue("see edits", rows(3))
	in.pick("tool", "")
	in.pick("by", "rules")
	in.awaitTrue("see what rules decided", rows(5))
	in.pick("by", "")
	in.pick("session", "ses-infra-live")
	in.awaitTrue("see one session", rows(6))
	link := read[string](in.tab, "copy a link", `document.querySelector("tr[data-settled] a").href`)

	in.pick("session", "")
	g.askAs("nightly", "git status")
	in.do("look again", chromedp.Reload())
	in.awaitTrue("see another agent's", rows(22))
	const name = `[...document.querySelectorAll("select[data-field=agent] option")].find(o => o.text.startsWith("nightly "))?.value`
	in.awaitTrue("see its name", name+" !== undefined")
	in.pick("agent", read[string](in.tab, "find its name", name))
	in.awaitTrue("see what it asked", rows(1))
	in.pick("agent", "")
	in.pick("session", "ses-infra-live")
	in.awaitTrue("see one session again", rows(6))

	other := inbox{in.sibling()}
	other.do("follow it", chromedp.Navigate(link))
	other.awaitTrue("see the call", `document.querySelector("article.card")?.innerText.includes("get.example.sh")`)
	other.wantAccessible("a call of the past")

	dir := in.downloads()
	for act, file := range map[string]string{"export-csv": "gatelatch-calls.csv", "export-json": "gatelatch-calls.jsonl", "export-trail": "gatelatch-trail.jsonl"} {
		in.do("export", chromedp.Click(chromedp.CSS(`[data-act="export"]`), chromedp.NodeVisible), chromedp.Click(chromedp.CSS(fmt.Sprintf(`[data-act=%q]`, act)), chromedp.NodeVisible))
		var text string
		until(t, file, func() bool {
			raw, err := os.ReadFile(filepath.Join(dir, file))
			text = string(raw)
			return err == nil && len(raw) > 0
		})
		lines := strings.Count(text, "\n")
		switch {
		case act == "export-trail":
			if out := g.cli("audit", "verify", filepath.Join(dir, file)); !strings.Contains(out, fmt.Sprint(lines)) {
				t.Errorf("%d lines, but: %s", lines, out)
			}
		case act == "export-csv" && (lines != 7 || !strings.HasPrefix(text, "id,created,")), act == "export-json" && lines != 6:
			t.Errorf("%s has %d lines:\n%s", file, lines, text)
		}
	}
	in.wantNoComplaints()
}

// downloads is where the tab's files go.
func (b *tab) downloads() string {
	b.t.Helper()
	dir := b.t.TempDir()
	b.do("take files", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, chrome.SetDownloadBehavior, chrome.SetDownloadBehaviorParams{
			Behavior: chrome.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		return err
	}))
	return dir
}

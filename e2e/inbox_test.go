package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// keys types as a person does, wherever the focus is: a key that the page takes
// for itself writes nothing.
func (b *tab) keys(what, keys string) {
	b.t.Helper()
	b.do(what, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			p := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(r), Text: string(r)}
			if r == escape {
				p.Key, p.Text = "Escape", ""
			}
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, p); err != nil {
				return err
			}
			p.Type, p.Text = input.DispatchKeyEventTypeKeyUp, ""
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, p); err != nil {
				return err
			}
		}
		return nil
	}))
}

const escape = '\x1b'

func wheel(by float64) chromedp.MouseOption {
	return func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = 0.01, by } // a zero would not be sent
}

// armed waits until the card in view can be decided.
func (in inbox) armed() {
	in.t.Helper()
	in.do("wait until the card is armed", chromedp.WaitVisible(chromedp.CSS(`article.card [data-act="allow"]:not([aria-disabled="true"])`)))
}

// P8: all agents in one list, by session and batch; the count is in the title and
// in the icon; keys do everything; the end tells what to do next.
func TestInboxIsWorkedByKeys(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, c := openInbox(t, g), newCrowd(t, g)
	in.do("see what to do first", chromedp.WaitVisible(chromedp.CSS(`.steps`)))
	shop := c.ask("checkout-api", "Bash", map[string]any{"command": "npm run one"}, map[string]any{"command": "npm run two"})
	in.waitCard("npm run two")
	infra := c.run("infra-live", "terraform apply")
	in.waitCard("terraform apply")

	in.awaitTrue("see two sessions and a batch", `document.querySelectorAll(".session").length === 2 && document.querySelector(".batch-head")?.innerText.startsWith("Batch of 2")`)
	in.awaitTrue("see the count in the title", `document.title.startsWith("(3) ")`)
	in.awaitTrue("see the count in the icon", `decodeURIComponent(document.querySelector('link[rel="icon"]').href).includes(">3</text>")`)
	in.awaitTrue("hear of the new call", `document.querySelector("[data-announce]").textContent.includes("waiting.")`)

	in.keys("ask for help", "?")
	in.do("see the keys", chromedp.WaitVisible(chromedp.CSS(`.keys`)))
	in.wantAccessible("the inbox with its keys")
	in.keys("close it", "?")

	in.keys("filter", "/")
	in.keys("type", "terraform")
	in.awaitTrue("see one row", `document.querySelectorAll(".row").length === 1`)
	in.keys("leave the filter", string(escape))
	in.awaitTrue("see all rows", `document.querySelectorAll(".row").length === 3`)

	in.do("choose the first", chromedp.Click(chromedp.CSS(fmt.Sprintf(`a[data-call="%s"]`, shop.Calls[0].ID)), chromedp.NodeVisible))
	in.keys("go down", "j")
	in.awaitTrue("see the second", fmt.Sprintf(`document.querySelector('article.card[data-call="%s"]')`, shop.Calls[1].ID))
	in.keys("go up", "k")
	in.armed()
	in.keys("allow", "a")
	in.awaitTrue("be at the next", fmt.Sprintf(`document.querySelector('article.card[data-call="%s"]')`, shop.Calls[1].ID))
	in.armed()
	in.keys("edit", "e")
	in.do("see the editor", chromedp.WaitVisible(chromedp.CSS(`[data-field="input"]`)))
	in.keys("leave it", string(escape))
	in.armed()
	in.keys("deny", "d")
	in.awaitTrue("be at the last", fmt.Sprintf(`document.querySelector('article.card[data-call="%s"]')`, infra.Calls[0].ID))
	in.armed()
	in.keys("deny", "d")
	in.awaitTrue("see that nothing waits, and what to do next", `document.querySelector(".calm h1")?.innerText === "Nothing waits for you." && document.querySelectorAll(".next .btn").length >= 2`)
	in.awaitTrue("see no count", `document.title.startsWith("Inbox") && document.querySelector('link[rel="icon"]').href.endsWith("/icon.svg")`)
	for id, want := range map[string]string{shop.Calls[0].ID: "allowed", shop.Calls[1].ID: "denied", infra.Calls[0].ID: "denied"} {
		if got, err := c.person.Call(t.Context(), id); err != nil || got.State != want {
			t.Errorf("%s is %s, want %s (%v)", id, got.State, want, err)
		}
	}
	in.wantNoComplaints()
}

// SEC-61: what comes while somebody points at a row moves nothing, and is told
// where it is out of sight.
func TestNewCallsMoveNothing(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	c := newCrowd(t, g)
	for i := range 30 {
		c.run("checkout-api", fmt.Sprintf("deploy %d", i))
	}
	c.run("infra-live", "deploy last")
	in := openInbox(t, g)
	in.awaitTrue("see all", `document.querySelectorAll(".row").length === 31`)
	in.awaitTrue("see the card", `document.querySelector("article.card")`)
	at := read[struct{ X, Y float64 }](in.tab, "find a row", `(({x, y, width, height}) => ({X: x + width / 2, Y: y + height / 2}))(document.querySelectorAll(".row")[3].getBoundingClientRect())`)
	in.do("point at it", chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y))
	under := fmt.Sprintf(`document.elementFromPoint(%f, %f).closest(".row").dataset.call`, at.X, at.Y)
	before := read[string](in.tab, "see what is under the pointer", under)
	in.watchShift()
	for i := range 5 {
		c.run("checkout-api", fmt.Sprintf("fresh %d", i))
	}
	in.awaitTrue("see that there is more", `document.querySelector('[data-act="show-new"]')?.innerText.startsWith("5")`)
	if after := read[string](in.tab, "see what is under the pointer now", under); after != before {
		t.Errorf("under the pointer was %s and is %s", before, after)
	}
	in.wantNoShift(t)
	in.do("show what is new", chromedp.Click(chromedp.CSS(`[data-act="show-new"]`)))
	in.awaitTrue("see it", `[...document.querySelectorAll(".row")].some(r => r.innerText.includes("fresh") && r.getBoundingClientRect().bottom < innerHeight)`)
	in.awaitTrue("have seen all of it", `!document.querySelector('[data-act="show-new"]')`)
}

// P7: a page that lost the gateway says so, and afterwards has every call once.
func TestReconnectLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, c := openInbox(t, g), newCrowd(t, g)
	first, second := c.run("checkout-api", "deploy one"), c.run("checkout-api", "deploy two")
	in.waitCard("deploy two")
	in.do("see that it is live", chromedp.WaitVisible(chromedp.CSS(`.state .dot:not(.is-off)`)))
	g.kill()
	in.waitOffline()
	in.do("see that it is lost", chromedp.WaitVisible(chromedp.CSS(`.state .dot.is-off`)))
	g.start()
	c.decide(first, "denied", "")
	for i := range 3 {
		c.run("infra-live", fmt.Sprintf("deploy meanwhile %d", i))
	}
	in.waitLive()
	want := "deploy meanwhile 0,deploy meanwhile 1,deploy meanwhile 2,deploy two"
	in.awaitTrue("see each call once", fmt.Sprintf(`[...document.querySelectorAll("a[data-call] .row-text")].map(e => e.innerText).sort().join() === %q`, want))
	in.awaitTrue("see the count", `document.title.startsWith("(4) ")`)
	in.tabTo("history")
	in.awaitTrue("see the denied one, once", fmt.Sprintf(`document.querySelectorAll('tr[data-settled="%s"]').length === 1`, first.Calls[0].ID))
	_ = second
}

// 5,000 calls that wait: the page draws few of them, and leads to all.
func TestInboxOfFiveThousand(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	c := newCrowd(t, g)
	c.fill(5000)
	in := openInbox(t, g)
	in.awaitTrue("have all", `document.title.startsWith("(5000) ")`)
	drawn := func() int { return read[int](in.tab, "count rows", `document.querySelectorAll(".row").length`) }
	if n := drawn(); n > 200 {
		t.Errorf("%d rows are drawn", n)
	}
	in.awaitTrue("have room for all", `document.querySelector(".list-scroll").scrollHeight > 5000 * 56`)
	box := read[struct{ X, Y float64 }](in.tab, "find the list", `(({x, y, width, height}) => ({X: x + width / 2, Y: y + height / 2}))(document.querySelector(".list-scroll").getBoundingClientRect())`)
	for range 20 {
		in.do("turn the wheel", chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, box.X, box.Y, wheel(12_000)))
	}
	in.awaitTrue("be far down, with rows in view", `(() => {
		const box = document.querySelector(".list-scroll").getBoundingClientRect();
		const e = document.elementFromPoint(box.x + 60, box.y + box.height / 2);
		return document.querySelector(".list-scroll").scrollTop > 100000 && e.closest(".row, .batch-head, .session-head");
	})()`)
	if n := drawn(); n > 200 {
		t.Errorf("%d rows are drawn", n)
	}
	in.keys("filter", "/")
	in.keys("type", "number-04321")
	in.awaitTrue("find one of all", `document.querySelectorAll(".row").length === 1 && document.querySelector("article.card")?.innerText.includes("number-04321")`)
	in.keys("leave the filter", string(escape))
	in.keys("go on from there", "j")
	in.awaitTrue("see the next, drawn and in view", `(() => {
		const row = document.querySelector(".row[aria-current]")?.getBoundingClientRect();
		return row && row.top > 0 && row.bottom < innerHeight && document.querySelector("article.card")?.innerText.includes("number-04322");
	})()`)
	in.armed()
	in.keys("allow", "a")
	in.awaitTrue("have one less", `document.title.startsWith("(4999) ")`)
	in.wantAccessible("a long inbox")
	in.wantNoComplaints()
}

// installability is what keeps the browser from offering to install the page.
func (b *tab) installability() (out []string) {
	b.t.Helper()
	got, err := chromedp.Run(b.ctx, func(ctx context.Context, t *chromedp.Target) (page.GetInstallabilityErrorsResult, error) {
		return cdp.Call(ctx, t, page.GetInstallabilityErrors, cdp.Empty{})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range got.InstallabilityErrors {
		if e.ErrorID != "in-incognito" { // as every page of these tests
			out = append(out, e.ErrorID)
		}
	}
	return out
}

// SEC-13, SEC-14: what is new on the page keeps to the page's own policy, too:
// its worker, its manifest and its icons come from the gateway alone.
func TestThePageCanBeInstalled(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in := openInbox(t, g)
	in.awaitTrue("have a worker", `(navigator.serviceWorker.ready.then(r => { document.documentElement.dataset.worker = r.active.scriptURL; }), document.documentElement.dataset.worker)`)
	got := read[string](in.tab, "read the manifest", `fetch("/manifest.webmanifest").then(async r => {
		const m = await r.json();
		const icons = await Promise.all(m.icons.map(i => fetch(i.src).then(r => r.status + r.headers.get("content-type"))));
		return [r.headers.get("content-type"), m.display, m.start_url, ...icons].join();
	})`)
	if want := "application/manifest+json,standalone,/,200image/png,200image/png,200image/png,200image/svg+xml"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if errs := in.installability(); len(errs) > 0 {
		t.Errorf("it can't be installed: %s", strings.Join(errs, ", "))
	}
	in.wantNoComplaints()
}

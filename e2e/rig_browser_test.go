package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

var (
	browserMu  sync.Mutex
	browserEnd func()
)

// browser is one Chromium for all tests; each page gets cookies of its own. It
// can resolve no name but those of this machine.
var browser = sync.OnceValues(func() (context.Context, error) {
	bin, err := chromium()
	if err != nil {
		return nil, err
	}
	opts := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(bin),
		chromedp.UserDataDir(filepath.Join(scratch, "chromium")),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
	})
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	alloc, freeAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	browserMu.Lock()
	browserEnd = func() { cancel(); freeAlloc() }
	browserMu.Unlock()
	if err := chromedp.Do(ctx); err != nil {
		return nil, fmt.Errorf("can't start %s (run make test): %w", bin, err)
	}
	return ctx, nil
})

func closeBrowser() {
	browserMu.Lock()
	defer browserMu.Unlock()
	if browserEnd != nil {
		browserEnd()
	}
}

// tab is a page of the browser, with a log of its console.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	console []chromedp.ConsoleMessage
}

// newTab opens an empty page that shares no cookies with any other test.
func newTab(t *testing.T) *tab {
	t.Helper()
	return openTab(need(t, browser), t, chromedp.WithNewBrowserContext())
}

// sibling opens another page with the same cookies.
func (b *tab) sibling() *tab {
	b.t.Helper()
	return openTab(b.ctx, b.t)
}

func openTab(parent context.Context, t *testing.T, opts ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, opts...)
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		if t.Failed() {
			b.keepEvidence()
		}
		cancel()
	})
	// The first Do binds the tab's life to its context: no timeout here.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 900)); err != nil {
		t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the tab is closed
			}
			b.mu.Lock()
			b.console = append(b.console, m)
			b.mu.Unlock()
		}
	}()
	return b
}

// do runs steps that must succeed within our patience.
func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// read evaluates an expression in the page; a promise is awaited.
func read[T any](b *tab, what, js string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	return v
}

// awaitTrue waits, without polling, until a change of the document makes the
// expression truthy, and returns its value as a string.
func (b *tab) awaitTrue(what, js string) string {
	b.t.Helper()
	return read[string](b, what, fmt.Sprintf(`new Promise(done => {
		const look = () => {
			const v = %s;
			if (v) { watch.disconnect(); done(String(v)); }
		};
		const watch = new MutationObserver(look);
		watch.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
		look();
	})`, js))
}

// wantNoComplaints fails the test if the page's console holds an error.
func (b *tab) wantNoComplaints() {
	b.t.Helper()
	// The console is a stream: once our own line is through, all before it is.
	const end = "end of the test"
	read[string](b, "write to the console", fmt.Sprintf(`console.debug(%q), ""`, end))
	until(b.t, "the console", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return slices.ContainsFunc(b.console, func(m chromedp.ConsoleMessage) bool { return m.Text == end })
	})
	if got := b.complaints(); len(got) > 0 {
		b.t.Errorf("the console holds complaints:\n%s", strings.Join(got, "\n"))
	}
}

// complaints are the errors in the console so far. Refused content (CSP, trusted
// types, framing) is reported there too.
func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, m := range b.console {
		if m.Type == chromedp.ConsoleError || m.IsException() || m.Source == "security" {
			out = append(out, m.String()+" "+m.URL)
		}
	}
	return out
}

// keepEvidence saves what the page looked like when the test failed.
func (b *tab) keepEvidence() {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if msgs := b.complaints(); len(msgs) > 0 {
		b.t.Logf("the page's console:\n%s", strings.Join(msgs, "\n"))
	}
	if text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.pathname + "\n" + document.body?.innerText`)); err == nil {
		b.t.Logf("the page showed %s", text)
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Logf("no screenshot: %v", err)
		return
	}
	// A test may have several tabs, so the name gets a number.
	file, err := os.CreateTemp(evidenceDir(b.t), strings.ReplaceAll(b.t.Name(), "/", "-")+"-*.png")
	if err != nil {
		b.t.Log(err)
		return
	}
	defer file.Close()
	if _, err := file.Write(png); err != nil {
		b.t.Log(err)
		return
	}
	b.t.Logf("screenshot: %s", file.Name())
}

// evidenceDir outlives the test: an artifact directory is removed unless
// "go test -artifacts" asked to keep it.
func evidenceDir(t *testing.T) string {
	if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
		return t.ArtifactDir()
	}
	return os.TempDir()
}

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/web"
)

const (
	pageLoads  = 30
	pageEvents = 100
)

// pageSpeed looks at the page in a real Chromium: how soon there is something
// to decide, and how smoothly much of it scrolls.
func pageSpeed(r *rig) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	bins, err := build(r.dir, "cmd/gatelatch")
	if err != nil {
		return err
	}
	g, err := newGateway(r.dir, bins["gatelatch"])
	if err != nil {
		return err
	}
	defer g.stop()
	p, end, err := openPage(ctx, r.dir, g)
	if err != nil {
		return err
	}
	defer end()
	for _, part := range []func(*rig) error{p.weight, p.firstCard, p.eventToCard, p.many} {
		if err := part(r); err != nil {
			return err
		}
	}
	return nil
}

// openPage is the page in a browser of its own, logged in.
type openedPage struct {
	ctx   context.Context
	agent *client.Client
	url   string
	n     int
}

func openPage(ctx context.Context, dir string, g *gateway) (*openedPage, func(), error) {
	bin, err := exec.LookPath("chromium")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: run make deps", err)
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(bin), chromedp.NoSandbox, chromedp.UserDataDir(filepath.Join(dir, "chromium")))
	alloc, freeAlloc := chromedp.NewExecAllocator(ctx, opts...)
	tab, closeTab := chromedp.NewContext(alloc)
	end := func() { closeTab(); freeAlloc() }
	agent, err1 := client.ForAgents(g.state)
	people, err2 := client.ForPeople(g.state)
	if err := errors.Join(err1, err2); err != nil {
		return nil, end, err
	}
	code, err := people.LoginCode(ctx)
	if err != nil {
		return nil, end, err
	}
	at, _, _ := strings.Cut(code.URL, "/login")
	p := &openedPage{ctx: tab, agent: agent, url: at + "/"}
	if err := p.propose(1); err != nil {
		return nil, end, err
	}
	err = chromedp.Do(tab, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(code.URL), chromedp.WaitVisible(chromedp.CSS(`article.card`)),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchCards})
			return err
		}))
	return p, end, err
}

// watchCards notes when the first card was painted, and when each row was.
const watchCards = `{
	window.seen = {};
	const painted = fn => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = fn; c.port2.postMessage(0); });
	window.watching = new MutationObserver(() => {
		if (!window.begun && document.querySelector("article.card")) { window.begun = true; painted(() => { window.firstCard = performance.now(); }); }
		for (const row of document.querySelectorAll("a[data-call]")) {
			const id = row.dataset.call;
			if (!(id in seen)) { seen[id] = 0; painted(() => { seen[id] = performance.timeOrigin + performance.now(); }); }
		}
	});
	watching.observe(document, {subtree: true, childList: true});
}`

func (p *openedPage) propose(n int) error {
	for range n {
		p.n++
		if _, err := p.agent.Propose(p.ctx, proposal("/home/dev/page", p.n)); err != nil {
			return err
		}
	}
	return nil
}

func evaluate[T any](p *openedPage, js string) (T, error) {
	return chromedp.Run(p.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
}

// weight is the JavaScript that the page loads by itself, compressed.
func (p *openedPage) weight(r *rig) error {
	names, err := evaluate[[]string](p, `performance.getEntriesByType("resource").map(e => new URL(e.name).pathname).filter(n => n.startsWith("/assets/") && n.endsWith(".js"))`)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return errors.New("the page loaded no script")
	}
	var all bytes.Buffer
	for _, name := range names {
		raw, err := fs.ReadFile(web.FS(), strings.TrimPrefix(name, "/"))
		if err != nil {
			return err
		}
		z, err := gzip.NewWriterLevel(&all, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, werr := z.Write(raw)
		if err := errors.Join(werr, z.Close()); err != nil {
			return err
		}
	}
	r.most("JavaScript of the page, compressed", float64(all.Len())/1024, 80, "KB")
	return nil
}

// firstCard times loads from their beginning until a card is on the screen.
func (p *openedPage) firstCard(r *rig) error {
	s, err := p.load(pageLoads, 1)
	if err != nil {
		return err
	}
	s.print("from the load to a card on the screen")
	r.most("the same, p50", ms(s.p50()), 300, "ms")
	return nil
}

// load opens the page n times, with so many calls that wait, and times each
// until its first card is painted. The next is opened when all of it is there.
func (p *openedPage) load(n, waiting int) (s sample, err error) {
	for range n {
		if err := chromedp.Do(p.ctx, chromedp.Navigate(p.url)); err != nil {
			return nil, err
		}
		took, err := evaluate[float64](p, `new Promise(done => { const look = () => window.firstCard ? done(window.firstCard) : setTimeout(look, 5); look(); })`)
		if err != nil {
			return nil, err
		}
		s = append(s, time.Duration(took*float64(time.Millisecond)))
		if _, err := evaluate[bool](p, fmt.Sprintf(`new Promise(done => { const look = () => parseInt(document.title.slice(1)) >= %d && document.querySelector('[data-live="on"]') ? done(true) : setTimeout(look, 20); look(); })`, waiting)); err != nil {
			return nil, err
		}
	}
	slices.Sort(s)
	return s, nil
}

// eventToCard times a call from before it is proposed until its row is painted.
func (p *openedPage) eventToCard(r *rig) error {
	var s sample
	for range pageEvents {
		p.n++
		begin := time.Now()
		b, err := p.agent.Propose(p.ctx, proposal("/home/dev/page", p.n))
		if err != nil {
			return err
		}
		at, err := evaluate[float64](p, fmt.Sprintf(`new Promise(done => { const look = () => seen[%q] ? done(seen[%[1]q]) : setTimeout(look, 2); look(); })`, b.Calls[0].ID))
		if err != nil {
			return err
		}
		s = append(s, time.UnixMicro(int64(at*1000)).Sub(begin))
	}
	slices.Sort(s)
	s.print("from proposing a call to its row on the screen")
	r.most("the same, p50", ms(s.p50()), 50, "ms")
	return nil
}

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
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/web"
)

const (
	pageLoads  = 30
	pageEvents = 100
	pageMany   = 5000
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
	for _, part := range []func(*rig) error{p.weight, p.firstCard, p.eventToCard, p.scroll} {
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
	var s sample
	for range pageLoads {
		if err := chromedp.Do(p.ctx, chromedp.Navigate(p.url)); err != nil {
			return err
		}
		took, err := evaluate[float64](p, `new Promise(done => { const look = () => window.firstCard ? done(window.firstCard) : setTimeout(look, 5); look(); })`)
		if err != nil {
			return err
		}
		s = append(s, time.Duration(took*float64(time.Millisecond)))
	}
	slices.Sort(s)
	s.print("from the load to a card on the screen")
	r.most("the same, at most half of the time", ms(s.p50()), 300, "ms")
	return nil
}

// eventToCard times a call from before it is proposed until its row is painted.
func (p *openedPage) eventToCard(r *rig) error {
	if _, err := evaluate[bool](p, `new Promise(done => { const look = () => document.querySelector('[data-live="on"]') ? done(true) : setTimeout(look, 5); look(); })`); err != nil {
		return err
	}
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

// scroll turns the wheel over a long list and looks at the longest frame.
func (p *openedPage) scroll(r *rig) error {
	if err := inParallel(clients, pageMany/10, func(i int) error { return p.batch(i) }); err != nil {
		return err
	}
	if err := chromedp.Do(p.ctx, chromedp.Navigate(p.url)); err != nil {
		return err
	}
	loaded, err := evaluate[float64](p, fmt.Sprintf(`new Promise(done => { const look = () => parseInt(document.title.slice(1)) >= %d ? done(performance.now()) : setTimeout(look, 20); look(); })`, pageMany))
	if err != nil {
		return err
	}
	note("all of 5,000 loaded after", loaded/1000, "s")
	card, err := evaluate[float64](p, `window.firstCard`)
	if err != nil {
		return err
	}
	r.most("a card on the screen with 5,000 pending", card, 300, "ms")
	// Noting when each row is painted is for events: it asks for a frame of its own each time.
	if _, err := evaluate[bool](p, `(() => {
		watching.disconnect();
		window.frames = []; let last;
		const frame = now => { if (last !== undefined) frames.push(now - last); last = now; requestAnimationFrame(frame); };
		requestAnimationFrame(frame);
		return true;
	})()`); err != nil {
		return err
	}
	turn := chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, 200, 400, func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = 0.01, 900 })
	for range 150 {
		if err := chromedp.Do(p.ctx, turn); err != nil {
			return err
		}
	}
	got, err := evaluate[struct{ Longest, Count, At, Rows float64 }](p, `({Longest: Math.max(...frames), Count: frames.length, At: document.querySelector(".list-scroll").scrollTop, Rows: document.querySelectorAll(".row").length})`)
	if err != nil {
		return err
	}
	if got.At < 50_000 || got.Count < 50 {
		return fmt.Errorf("the list scrolled to %.0f in %.0f frames only", got.At, got.Count)
	}
	note("rows drawn of 5,000", got.Rows, "")
	r.most("longest frame while 5,000 pending scroll", got.Longest, 50, "ms")
	return nil
}

func (p *openedPage) batch(i int) error {
	q := proposal(fmt.Sprintf("/home/dev/page-%d", i%20), 1_000_000+i)
	q.Session.ID = fmt.Sprintf("many-%d", i%20)
	one := q.Calls[0]
	q.Calls = nil
	for k := range 10 {
		c := one
		c.Ref = fmt.Sprintf("many-%d-%d", i, k)
		q.Calls = append(q.Calls, c)
	}
	_, err := p.agent.Propose(p.ctx, q)
	return err
}

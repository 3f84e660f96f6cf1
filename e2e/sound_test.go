package e2e

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webaudio"
	"github.com/chromedp/chromedp"
)

// Who wants to hears a new call, and nobody else does.
func TestNewCallsAreHeardIfWanted(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, c := openInbox(t, g), newCrowd(t, g)
	var notes atomic.Int64
	made := chromedp.Events(in.ctx, webaudio.AudioNodeCreated)
	in.do("listen", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, webaudio.Enable, cdp.Empty{})
		return err
	}))
	go func() {
		for ev, err := range made {
			if err != nil {
				return
			}
			if ev.Node.NodeType == "Oscillator" {
				notes.Add(1)
			}
		}
	}()
	c.run("checkout-api", "npm test")
	in.awaitTrue("see a call", `document.querySelectorAll("[data-announce]")[0].innerText !== ""`)
	if n := notes.Load(); n != 0 {
		t.Fatalf("%d notes were played that nobody wanted", n)
	}
	in.do("want to hear", chromedp.Click(chromedp.CSS(`[data-act="bell"]`), chromedp.NodeVisible), chromedp.Click(chromedp.CSS(`[data-field="sound"]`), chromedp.NodeVisible))
	until(t, "what it sounds like", func() bool { return notes.Load() == 2 })
	c.run("checkout-api", "npm run build")
	until(t, "the call to be heard", func() bool { return notes.Load() == 4 })
}

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// view is a way to look at the page; picture names the file in docs/img that
// shows it, if one does.
type view struct {
	name          string
	width, height int64
	scheme        string
	picture       string
}

var views = []view{
	{"wide and light", 1440, 900, "light", "inbox-light.png"},
	{"wide and dark", 1440, 900, "dark", "inbox-dark.png"},
	{"phone and light", 390, 844, "light", "phone.png"},
	{"phone and dark", 390, 844, "dark", ""},
}

// TestScreenshots looks at the demonstration in each view and expects no
// complaint from the browser. With GATELATCH_SCREENSHOTS=1 it also takes the
// pictures in docs/img anew.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	g := startDemo(t)
	in := openInbox(t, g)
	for _, v := range views {
		in.look(v)
		in.showCommand()
		in.wantNarrow("the inbox", v)
		in.picture(v, v.picture)
	}
	in.wantNoComplaints()
}

// picture takes a picture in docs/img anew, if that is wanted and the view has one.
func (in inbox) picture(v view, name string) {
	in.t.Helper()
	if os.Getenv("GATELATCH_SCREENSHOTS") == "1" && v.picture != "" {
		in.takePicture(name)
	}
}

// look makes the tab a screen of that size, with that colour scheme.
func (b *tab) look(v view) {
	b.t.Helper()
	scale := chromedp.EmulateScale(1)
	if v.width < 860 {
		scale = chromedp.EmulateScale(2)
	}
	b.do("set the screen", chromedp.EmulateViewport(v.width, v.height, scale),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{
					{Name: "prefers-color-scheme", Value: v.scheme},
					{Name: "prefers-reduced-motion", Value: "reduce"},
				},
			})
			return err
		}))
}

// showCommand waits until all the demonstration's agents have asked, and shows
// the call that runs a command.
func (in inbox) showCommand() {
	in.t.Helper()
	in.awaitTrue("wait for four calls", `new Set([...document.querySelectorAll("[data-call]")].map(e => e.dataset.call)).size >= 4`)
	c := in.waitCard("npm test")
	c.do("wait for the buttons to be armed",
		chromedp.WaitVisible(chromedp.CSS(c.self()+` [data-act="allow"]:not([aria-disabled="true"])`)))
}

func (in inbox) takePicture(name string) {
	in.t.Helper()
	ctx, cancel := context.WithTimeout(in.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		in.t.Fatal(err)
	}
	dir := filepath.Join("..", "docs", "img")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		in.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), png, 0o644); err != nil {
		in.t.Fatal(err)
	}
}

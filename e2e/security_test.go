package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// SEC-14: nothing on the page breaks the page's own rules.
func TestPageKeepsItsOwnContentPolicy(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in := openInbox(t, g)
	s := newStub(t, g)
	s.propose(`printf '<img src=x onerror=alert(1)>' > "$HOME/a b.html"`)
	c := in.waitCard("onerror")
	c.deny("no <b>markup</b> either")
	c.waitHistory()
	in.wantNoComplaints()
}

// SEC-14: no other origin can put the page into a frame and borrow a click.
func TestPageCannotBeFramed(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in := openInbox(t, g)
	evil := neighbour(t, fmt.Sprintf(`<iframe src="%s/"></iframe>`, g.url))
	in.do("open the neighbour", chromedp.Navigate(evil.URL))

	tree, err := chromedp.Run(in.ctx, func(ctx context.Context, t *chromedp.Target) (page.GetFrameTreeResult, error) {
		return cdp.Call(ctx, t, page.GetFrameTree, cdp.Empty{})
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tree.FrameTree.ChildFrames); n != 1 {
		t.Fatalf("%d frames, want 1", n)
	}
	if f := tree.FrameTree.ChildFrames[0].Frame; f.UnreachableURL != g.url+"/" {
		t.Errorf("the frame shows %s (unreachable: %q)", f.URL, f.UnreachableURL)
	}
}

// SEC-13: a cookie goes to every port of its host, so an agent's own web server
// gets ours when the person looks at it. The cookie alone must decide nothing,
// neither in that page nor sent by that server.
func TestNeighbourWithTheCookieCannotDecide(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in := openInbox(t, g)
	p := newStub(t, g).propose("touch x")
	own := in.catchDecision(in.waitCard("touch x"))

	evil, other := neighbour(t, ""), in.sibling()
	other.do("open the neighbour", chromedp.Navigate(evil.URL))
	cookie := <-evil.cookies
	if cookie == "" {
		t.Fatal("the neighbour did not get the cookie, so this test would prove nothing")
	}
	t.Run("from its page", func(t *testing.T) {
		for _, mode := range []string{"cors", "no-cors"} {
			got := read[string](other, "decide from the neighbour's page", fmt.Sprintf(
				`fetch(%q, {method: "POST", mode: %q, credentials: "include", headers: {"Content-Type": %q}, body: %q}).then(r => r.type + r.status, e => "refused")`,
				own.url, mode, map[string]string{"cors": "application/json", "no-cors": "text/plain"}[mode], own.body))
			if got != "refused" && got != "opaque0" {
				t.Errorf("%s: the neighbour's page got the answer %s", mode, got)
			}
		}
	})
	t.Run("from its server", func(t *testing.T) {
		stolen := own.clone()
		for name := range stolen.header {
			if strings.HasPrefix(name, "X-") || name == "Authorization" {
				stolen.header.Del(name)
			}
		}
		if status := stolen.send(t, cookie); status != http.StatusUnauthorized && status != http.StatusForbidden {
			t.Errorf("the cookie alone got status %d", status)
		}
	})
	if w := g.waiting(); len(w) != 1 {
		t.Fatalf("a neighbour decided the call; what waits is %v", w)
	}
	// The same request with both halves of the session works: the refusals
	// above were not about some other fault in it.
	if status := own.send(t, cookie); status != http.StatusOK {
		t.Errorf("the person's own request got status %d", status)
	}
	p.wantDecision("allow")
}

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// site is a web server on another port of the same host.
type site struct {
	*httptest.Server
	cookies chan string // what the first visit brought along
}

func neighbour(t *testing.T, body string) site {
	t.Helper()
	s := site{cookies: make(chan string, 1)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.cookies <- r.Header.Get("Cookie"):
		default:
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">`, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// caught is a request of the page that never left the browser.
type caught struct {
	url, body string
	header    http.Header
}

// catchDecision presses Allow and keeps the request that the page makes of it.
// From then on the page can't reach the calls, or it might send it again.
func (in inbox) catchDecision(c card) caught {
	in.t.Helper()
	ctx, cancel := context.WithTimeout(in.ctx, patience)
	defer cancel()
	paused := chromedp.Events(ctx, fetch.RequestPaused)
	_, err := chromedp.Call(ctx, fetch.Enable, fetch.EnableParams{
		Patterns: []*fetch.RequestPattern{{URLPattern: "*/v1/calls/*"}},
	})
	if err != nil {
		in.t.Fatal(err)
	}
	c.press("allow")
	for ev, err := range paused {
		if err != nil {
			in.t.Fatal(err)
		}
		if ev.Request.Method != http.MethodPost {
			if _, err := chromedp.Call(ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: ev.RequestID}); err != nil {
				in.t.Fatal(err)
			}
			continue
		}
		if _, err := chromedp.Call(ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: ev.RequestID, ErrorReason: network.ErrorReasonFailed}); err != nil {
			in.t.Fatal(err)
		}
		return newCaught(ev.Request)
	}
	in.t.Fatal("the page sent no decision")
	return caught{}
}

// holdDecision presses Allow and holds back what the page sends until something
// else has happened.
func (in inbox) holdDecision(c card, meanwhile func()) {
	in.t.Helper()
	ctx, cancel := context.WithTimeout(in.ctx, patience)
	defer cancel()
	paused := chromedp.Events(ctx, fetch.RequestPaused)
	if _, err := chromedp.Call(ctx, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/v1/calls/*"}}}); err != nil {
		in.t.Fatal(err)
	}
	c.press("allow")
	for _, err := range paused {
		if err != nil {
			in.t.Fatal(err)
		}
		break
	}
	meanwhile()
	if _, err := chromedp.Call(ctx, fetch.Disable, cdp.Empty{}); err != nil {
		in.t.Fatal(err)
	}
}

func newCaught(r *network.Request) caught {
	c := caught{url: r.URL, header: http.Header{}}
	for name, value := range r.Headers {
		c.header.Set(name, fmt.Sprint(value))
	}
	for _, part := range r.PostDataEntries {
		c.body += string(part.Bytes)
	}
	return c
}

func (c caught) clone() caught {
	c.header = c.header.Clone()
	return c
}

// send makes the request outside any browser, with whatever headers it likes.
func (c caught) send(t *testing.T, cookie string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = c.header.Clone()
	req.Header.Set("Cookie", cookie)
	req.Header.Set("Origin", strings.TrimSuffix(c.url, req.URL.RequestURI()))
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	t.Logf("status %d: %s", resp.StatusCode, body)
	return resp.StatusCode
}

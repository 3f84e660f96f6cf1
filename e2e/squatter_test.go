package e2e

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Whoever takes the gateway's port while it is down sees what an open tab
// sends, cookie and all. None of it lets him act when the gateway is back.
func TestWhoeverTakesThePortCannotActLater(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in := openInbox(t, g)
	in.waitLive()
	g.stop()
	seen := squat(t, strings.TrimPrefix(g.url, "http://"))
	g.start()

	if seen.Header.Get("Cookie") == "" || seen.Header.Get("X-Gatelatch-Page") == "" {
		t.Fatalf("the tab sent the squatter no session: %v", seen.Header)
	}
	for _, path := range []string{"/v1/pause", "/v1/login-codes", "/v1/logout"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.url+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = seen.Header.Clone()
		req.Header.Set("Origin", g.url)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("the squatter's POST %s: %s", path, res.Status)
		}
	}
	in.waitLive() // and the tab goes on by itself
}

// squat listens on addr until a page has come by, and returns its request.
func squat(t *testing.T, addr string) *http.Request {
	t.Helper()
	var ln net.Listener
	until(t, "the port to be free", func() (ok bool) {
		var err error
		ln, err = net.Listen("tcp", addr)
		return err == nil
	})
	seen := make(chan *http.Request, 1)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Gatelatch-Page") != "" {
			select {
			case seen <- r:
			default:
			}
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})}
	go func() { _ = srv.Serve(ln) }()
	defer func() { _ = srv.Close() }()
	select {
	case r := <-seen:
		return r
	case <-t.Context().Done():
		t.Fatal("no page came by")
	}
	return nil
}

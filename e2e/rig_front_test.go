package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
)

// front is a proxy with TLS before the gateway, as a tunnel would be. It hands
// on what it gets, with its Host.
type front struct {
	srv *httptest.Server
	to  string

	mu  sync.Mutex
	set string // the last cookie that went through
}

func newFront(t *testing.T) *front {
	t.Helper()
	f := &front{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			to, err := url.Parse(f.to)
			if err != nil {
				panic(err)
			}
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			if c := r.Header.Get("Set-Cookie"); c != "" {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.set = c
			}
			return nil
		},
		FlushInterval: -1,
	}
	f.srv = httptest.NewTLSServer(proxy)
	t.Cleanup(f.srv.Close)
	return f
}

func (f *front) cookie() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.set
}

// trust takes the proxy's certificate, which nobody signed.
func (b *tab) trust() {
	b.t.Helper()
	b.do("trust the proxy", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true})
		return err
	}))
}

// publicLink logs in a browser at the public address.
func (g *gateway) publicLink() string {
	g.t.Helper()
	var code struct {
		Public string `json:"public"`
	}
	if err := json.Unmarshal([]byte(g.cli("open", "--json")), &code); err != nil {
		g.t.Fatal(err)
	}
	return code.Public
}

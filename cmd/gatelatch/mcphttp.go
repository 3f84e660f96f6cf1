package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/mcp"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// mcpDoor lets in who has the agent's key, on this machine and by the address
// that was printed. It outlives restarts of the gateway, which its clients
// would not notice: they would wait for an answer that never comes.
type mcpDoor struct {
	addr string
	key  []byte
	http *mcp.HTTP
	who  func(*http.Request) (mcp.Caller, error)
}

func serveMCPHTTP(ctx context.Context, listen string, dir statedir.Dir, h *mcp.HTTP, who func(*http.Request) (mcp.Caller, error)) error {
	key, err := statedir.ReadKey(dir.AgentKey())
	if err != nil {
		return withHint(err, `start the gateway once: "gatelatch serve`+stateArg(dir)+`"`)
	}
	ln, err := listenLoopback(listen)
	if err != nil {
		return err
	}
	d := &mcpDoor{addr: ln.Addr().String(), key: []byte("Bearer " + key), http: h, who: who}
	srv := &http.Server{Handler: d, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	fmt.Fprintf(os.Stderr, "gatelatch: serving MCP on http://%s/mcp\n", d.addr)
	stop := context.AfterFunc(ctx, func() {
		bye, done := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer done()
		if srv.Shutdown(bye) != nil {
			_ = srv.Close()
		}
	})
	defer stop()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (d *mcpDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	auth := r.Header.Values("Authorization")
	switch {
	case r.Host != d.addr || r.URL.Host != "":
		http.Error(w, "this is not the address of the tool", http.StatusMisdirectedRequest)
		return
	case len(r.Header.Values("Origin")) > 0 || len(r.Header.Values("Sec-Fetch-Site")) > 0:
		http.Error(w, "no page may ask", http.StatusForbidden)
		return
	case len(auth) != 1 || subtle.ConstantTimeCompare([]byte(auth[0]), d.key) != 1:
		http.Error(w, "the agent's key is needed", http.StatusUnauthorized)
		return
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
		return
	}
	who, err := d.who(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	serveMCPBody(w, r, api.BodyFor(gatelatch.MostInput), d.http, who)
}

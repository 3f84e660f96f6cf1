package mcp

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/internal/id"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// idle is how long a session without a request is kept: its client has gone.
const idle = time.Hour

// carrierHeader names the HTTP request that a call came with. Clients can't: it
// is set here.
const carrierHeader = "Gatelatch-Carrier"

// HTTP serves streamable HTTP. Who asks is said with each request, so that the
// id of a session opens nothing.
type HTTP struct {
	handler http.Handler

	mu      sync.Mutex
	callers map[string]Caller
}

// NewHTTP returns a handler for one gateway.
func NewHTTP(version string, explain func(error) string) *HTTP {
	h := &HTTP{callers: map[string]Caller{}}
	s := newServer(version, h.caller, explain)
	h.handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.mcp }, &sdk.StreamableHTTPOptions{
		SessionTimeout: idle, MaxRequestBodyBytes: maxLine,
	})
	return h
}

// Serve answers one request of who. A session that the client did not name is
// the connection's own.
func (h *HTTP) Serve(w http.ResponseWriter, r *http.Request, who Caller) {
	who.Carrier = r.Context()
	if who.Session.ID == "" {
		who.Session.ID = r.Header.Get("Mcp-Session-Id")
	}
	carrier := id.New("car")
	h.mu.Lock()
	h.callers[carrier] = who
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.callers, carrier)
	}()
	r = r.Clone(r.Context())
	r.Header.Set(carrierHeader, carrier)
	h.handler.ServeHTTP(w, r)
}

func (h *HTTP) caller(req *sdk.CallToolRequest) (Caller, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if extra := req.GetExtra(); extra != nil {
		if who, ok := h.callers[extra.Header.Get(carrierHeader)]; ok {
			return who, nil
		}
	}
	return Caller{}, errors.New("the request is over")
}

package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gatelatch/gatelatch/adapter/hookcmd"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/server"
)

// hookLimit is how long Claude Code waits for a hook that sets nothing.
const hookLimit = 600 * time.Second

// serveHook answers Claude Code's hooks of type http. The address says what the
// command hook is told by its arguments and environment: ?limit=SECONDS, the
// timeout in the settings, and ?attended=1 with a person at the terminal.
func serveHook(w http.ResponseWriter, r *http.Request, g server.Guest) {
	if r.Method != http.MethodPost {
		http.Error(w, "a hook posts its event", http.StatusMethodNotAllowed)
		return
	}
	raw, err := server.Body(w, r, g.MaxBody)
	if err != nil {
		raw = nil // a part of an event is none, and denied
	}
	limit := hookLimit
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && n > 0 {
		limit = time.Duration(n) * time.Second
	}
	c := hookcmd.Claude{Service: g.Seat, Attended: r.URL.Query().Get("attended") == "1", Project: r.URL.Query().Get("project"), Holder: id.New("hld")}
	out := c.Serve(r.Context(), g.Base, raw, limit)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out) // an agent that is gone has no use for it
}

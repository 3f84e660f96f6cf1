package main

import (
	"bytes"
	"io"
	"net/http"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/mcp"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/server"
)

// plugs are the protocols of others that the gateway speaks itself.
func plugs() []server.Plug {
	return []server.Plug{
		{Path: "/mcp", Role: api.Agents, Serve: serveMCP()},
	}
}

func serveMCP() func(http.ResponseWriter, *http.Request, server.Guest) {
	h := mcp.NewHTTP(version, func(err error) string {
		_, e := api.FromError(err)
		return "Gatelatch could not decide this, so it is denied: " + e.Message
	})
	return func(w http.ResponseWriter, r *http.Request, g server.Guest) {
		serveMCPBody(w, r, h, mcp.Caller{Service: g.Seat, Session: guestSession(r, "Claude Code")})
	}
}

// serveMCPBody gives the body its time, and the answer any.
func serveMCPBody(w http.ResponseWriter, r *http.Request, h *mcp.HTTP, who mcp.Caller) {
	raw, err := server.Body(w, r)
	if err != nil {
		http.Error(w, "the body can't be read", http.StatusBadRequest)
		return
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	h.Serve(w, r, who)
}

// guestSession is what a client says about itself in the address: ?session=ID
// &project=/folder. It names, and opens nothing.
func guestSession(r *http.Request, name string) gatelatch.SessionInfo {
	q := r.URL.Query()
	return gatelatch.SessionInfo{ID: q.Get("session"), Name: name, Project: q.Get("project")}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"

	"github.com/gatelatch/gatelatch"
	asking "github.com/gatelatch/gatelatch/adapter/ask"
	"github.com/gatelatch/gatelatch/adapter/bridge"
	"github.com/gatelatch/gatelatch/adapter/mcp"
	"github.com/gatelatch/gatelatch/adapter/openclaw"
	"github.com/gatelatch/gatelatch/adapter/sema"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/server"
)

// plugs are the protocols of others that the gateway speaks itself. Each has a
// path for agents and one for people, so that no key fits both.
func plugs(log *slog.Logger, input int) []server.Plug {
	asks := messageFor(input)
	desk, book := new(asking.Desk), new(openclaw.Book)
	return []server.Plug{
		{Path: "/mcp", Role: api.Agents, Serve: serveMCP()},
		{Path: "/hooks/claude", Role: api.Agents, Serve: serveHook},
		{Path: "/ws/control", Role: api.Agents, Serve: socket(max(asks, maxOutput), func(r *http.Request, g server.Guest) speaker {
			return &bridge.Agent{Desk: desk, Service: g.Seat, Session: guestSession(r, "Claude Code"), Explain: undecided, Log: log}
		})},
		{Path: "/ws/browser", Role: api.People, Serve: socket(ws.MaxMessage, func(_ *http.Request, g server.Guest) speaker {
			return &bridge.Browser{Seat: g.Seat, Explain: noEffect, Log: log}
		})},
		{Path: "/ws/sema", Role: api.Agents, Serve: socket(asks, func(r *http.Request, g server.Guest) speaker {
			return &sema.Agent{Desk: desk, Service: g.Seat, Session: guestSession(r, "Sema"), Explain: undecided, Log: log}
		})},
		{Path: "/ws/sema/ui", Role: api.People, Serve: socket(ws.MaxMessage, func(_ *http.Request, g server.Guest) speaker {
			return &sema.UI{Seat: g.Seat, Explain: noEffect, Log: log}
		})},
		{Path: "/ws/openclaw", Role: api.Agents, Serve: socket(asks, func(r *http.Request, g server.Guest) speaker {
			return &openclaw.Agent{Desk: desk, Book: book, Seat: g.Seat, Who: g.Who, Session: guestSession(r, "OpenClaw"), Explain: undecided}
		})},
		{Path: "/ws/openclaw/operator", Role: api.People, Serve: socket(ws.MaxMessage, func(_ *http.Request, g server.Guest) speaker {
			return &openclaw.Operator{Seat: g.Seat, Explain: noEffect}
		})},
	}
}

// messageFor is the most bytes of a message in which an agent asks: its input,
// and once more as the words that it shows with it. Nobody asks by another way
// on these protocols, so 64 KiB would deny what other agents may.
func messageFor(input int) int64 { return 2 * api.BodyFor(input) }

// maxOutput is for agents that say all that they do on the connection, results
// of tools among it: what ends it would end them.
const maxOutput = 4 << 20

// speaker is one connection of a protocol.
type speaker interface {
	Serve(ctx context.Context, c ws.Conn, valid func() error) error
}

func socket(most int64, meet func(*http.Request, server.Guest) speaker) func(http.ResponseWriter, *http.Request, server.Guest) {
	return func(w http.ResponseWriter, r *http.Request, g server.Guest) {
		s := meet(r, g)
		ws.Serve(g.Base, w, r, most, func(ctx context.Context, c ws.Conn) error { return s.Serve(ctx, c, g.Valid) })
	}
}

// undecided is what an agent hears when there is no decision, and noEffect what
// a person hears whose decision was none.
func undecided(err error) string {
	return "Gatelatch could not decide this, so it is denied: " + noEffect(err)
}

func noEffect(err error) string { return api.FromError(err).Message }

func serveMCP() func(http.ResponseWriter, *http.Request, server.Guest) {
	h := mcp.NewHTTP(version, undecided)
	return func(w http.ResponseWriter, r *http.Request, g server.Guest) {
		serveMCPBody(w, r, g.MaxBody, h, mcp.Caller{Service: g.Seat, Session: guestSession(r, "Claude Code")})
	}
}

// serveMCPBody gives the body its time, and the answer any.
func serveMCPBody(w http.ResponseWriter, r *http.Request, most int64, h *mcp.HTTP, who mcp.Caller) {
	raw, err := server.Body(w, r, most)
	if err != nil || !json.Valid(raw) { // which an error would quote
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

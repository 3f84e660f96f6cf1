package openclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/ask"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Methods of agents.
const (
	request      = "exec.approval.request"
	waitDecision = "exec.approval.waitDecision"
)

// expiry is how long a request waits that does not say.
const expiry = 30 * time.Minute

// An Agent is one connection of who wants to run commands.
type Agent struct {
	Desk    *ask.Desk
	Book    *Book
	Seat    *gatelatch.Seat
	Who     gatelatch.Actor
	Session gatelatch.SessionInfo
	Explain func(error) string

	peer
}

// Serve answers until the connection ends; requests stay, for who waits on them
// or asks again.
func (a *Agent) Serve(ctx context.Context, c ws.Conn, valid func() error) error {
	a.peer = peer{conn: &ws.Session{Conn: c, Valid: valid}, explain: a.Explain, methods: []string{request, waitDecision}, call: a.call}
	return a.serve(ctx)
}

func (a *Agent) call(ctx context.Context, f frame) error {
	switch f.Method {
	case request:
		return a.request(ctx, f)
	case waitDecision:
		return a.wait(ctx, f)
	}
	return badRequest("unknown method")
}

// requestParams is what an agent says about a command. Whatever changes what
// would run is part of the input that a person sees.
type requestParams struct {
	ID         string          `json:"id"`
	Command    string          `json:"command"`
	Argv       json.RawMessage `json:"commandArgv"`
	Env        json.RawMessage `json:"env"`
	Host       string          `json:"host"`
	NodeID     string          `json:"nodeId"`
	Cwd        string          `json:"cwd"`
	AgentID    string          `json:"agentId"`
	SessionKey string          `json:"sessionKey"`
	TimeoutMs  *int64          `json:"timeoutMs"`
	TwoPhase   bool            `json:"twoPhase"`
}

func (p *requestParams) input() ([]byte, error) {
	return strictjson.Marshal(struct {
		Command string          `json:"command"`
		Argv    json.RawMessage `json:"commandArgv,omitempty"`
		Env     json.RawMessage `json:"env,omitempty"`
		Host    string          `json:"host,omitempty"`
		NodeID  string          `json:"nodeId,omitempty"`
	}{p.Command, null(p.Argv), null(p.Env), p.Host, p.NodeID})
}

func null(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func (p *requestParams) limit() time.Duration {
	if p.TimeoutMs == nil {
		return expiry
	}
	return time.Duration(*p.TimeoutMs) * time.Millisecond
}

func (a *Agent) request(ctx context.Context, f frame) error {
	var p requestParams
	if err := strictjson.UnmarshalLoose(f.Params, &p); err != nil {
		return badRequest("invalid exec.approval.request params: %v", err)
	}
	input, err := p.input()
	if err != nil || p.Command == "" || p.limit() <= 0 {
		return badRequest("invalid exec.approval.request params: a command and a positive timeoutMs are needed")
	}
	q := ask.Question{Session: a.Session, ID: p.ID, Tool: "Bash", Input: input, Dir: p.Cwd, Limit: p.limit(), Fixed: true}
	if q.ID == "" {
		q.ID = id.New("exec")
	}
	q.Session.ID += p.SessionKey
	if q.Session.ID == "" {
		q.Session.ID = "openclaw:" + p.AgentID
	}
	a.conn.Go(func() error {
		var e entry
		got, err := a.Desk.Ask(ctx, a.Seat, q, func(b *gatelatch.Batch) error {
			e = entryOf(p.ID, b)
			a.Book.put(a.Who.ID, e)
			if p.TwoPhase {
				return a.reply(ctx, f.ID, e.accepted(), nil)
			}
			return nil
		})
		if ws.Over(ctx) {
			return nil
		}
		return a.reply(ctx, f.ID, e.decided(got), err)
	})
	return nil
}

// wait goes on waiting for a decision: of a request that another connection
// made, or that is decided already.
func (a *Agent) wait(ctx context.Context, f frame) error {
	var p struct {
		ID string `json:"id"`
	}
	if err := strictjson.UnmarshalLoose(f.Params, &p); err != nil || p.ID == "" {
		return badRequest("id is required")
	}
	a.conn.Go(func() error {
		b, err := a.Seat.Batch(ctx, a.Book.batch(a.Who.ID, p.ID))
		if err == nil && (len(b.Calls) != 1 || b.Claimed == "") {
			err = gatelatch.ErrNotFound
		}
		var got ask.Answer
		if err == nil {
			got, err = ask.Wait(ctx, a.Seat, b.ID)
		}
		switch {
		case ws.Over(ctx):
			return nil
		case errors.Is(err, gatelatch.ErrNotFound):
			return a.reply(ctx, f.ID, nil, badRequest("approval expired or not found"))
		case err != nil:
			return a.reply(ctx, f.ID, nil, fmt.Errorf("waiting: %w", err))
		}
		return a.reply(ctx, f.ID, entryOf(p.ID, b).decided(got), nil)
	})
	return nil
}

// Package bridge stands between agents that speak Claude Code's control protocol
// over a WebSocket and the pages of people: control_request and control_response
// on one side (P1), permission_request and permission_response on the other (P3).
package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/ask"
	"github.com/gatelatch/gatelatch/adapter/claudecode"
	"github.com/gatelatch/gatelatch/adapter/control"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// An Agent is one connection of an agent. When it is lost, its questions stay:
// who asks the same again gets their answers.
type Agent struct {
	Desk    *ask.Desk
	Service Service
	Session gatelatch.SessionInfo // what the agent says on the connection completes it
	Explain func(error) string
	Log     *slog.Logger

	conn  *ws.Session
	heeds sync.Once

	mu   sync.Mutex // for Session and stop
	stop demand
}

// Service is what an agent on a WebSocket needs of the gateway.
type Service interface {
	gatelatch.Service
	FollowInterrupts(ctx context.Context, session string, known int64) (int64, error)
}

// Serve answers until the connection ends.
func (a *Agent) Serve(ctx context.Context, c ws.Conn, valid func() error) error {
	a.conn = &ws.Session{Conn: c, Valid: valid, Start: func(ctx context.Context) error {
		a.heed(ctx)
		return nil
	}}
	return a.conn.Run(ctx, a.take)
}

func (a *Agent) take(ctx context.Context, raw []byte) error {
	m, err := control.Read(raw)
	if err != nil {
		return err // whose answer this needs is not known, so nobody gets one
	}
	switch m.Type {
	case control.TypeRequest:
		err = a.request(ctx, m)
	case control.TypeCancel:
		a.conn.Cancel(m.RequestID, ask.ErrCancelled)
	case control.TypeResponse:
		a.stopped(m.Response)
	case "system":
		err = a.learn(raw)
	}
	a.heed(ctx)
	return err // all else is the agent's output
}

// learn takes over what an agent says about itself when it begins. What the
// address of the connection said stays.
func (a *Agent) learn(raw []byte) error {
	var in struct {
		Subtype   string `json:"subtype"`
		SessionID string `json:"session_id"`
		Cwd       string `json:"cwd"`
		Mode      string `json:"permissionMode"`
	}
	if err := strictjson.UnmarshalLoose(raw, &in); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if in.Subtype != "init" {
		return nil
	}
	a.Session.Mode = in.Mode
	if a.Session.ID == "" {
		a.Session.ID = in.SessionID
	}
	if a.Session.Project == "" {
		a.Session.Project = in.Cwd
	}
	return nil
}

// session is the agent's own, or one of the connection's if it has none.
func (a *Agent) session() gatelatch.SessionInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Session.ID == "" {
		a.Session.ID = id.New("ws")
	}
	return a.Session
}

func (a *Agent) request(ctx context.Context, m control.Message) error {
	if sub := m.Subtype(); sub != control.SubCanUseTool { // P2: an agent never hangs
		a.Log.Warn("an agent sent a control request that is not known", "subtype", fmt.Sprintf("%.60q", sub))
		return a.send(ctx, control.Refuse, m.RequestID, "the gateway does not know this request")
	}
	q, err := m.CanUseTool()
	if err != nil {
		return a.send(ctx, control.Refuse, m.RequestID, err.Error())
	}
	session := a.session()
	// The same request again, while it waits, is the same question.
	a.conn.Begin(ctx, m.RequestID, func(wait context.Context) error {
		got, err := a.Desk.Ask(wait, a.Service, ask.Question{
			Session: session, ID: q.ToolUseID, Tool: q.ToolName, Input: q.Input, Claim: q.Description, Suggests: claudecode.Matchers(q.Suggestions),
		}, nil)
		if ws.Over(wait) {
			return nil // nobody waits any more
		}
		return a.answer(ctx, m.RequestID, got, err)
	})
	return nil
}

func (a *Agent) answer(ctx context.Context, requestID string, got ask.Answer, err error) error {
	r := control.DenyResult(got.Text, got.Interrupt)
	switch {
	case err != nil:
		r = control.DenyResult(a.Explain(err), false)
	case got.Allowed:
		if r = control.AllowResult(got.Input); got.Mode != "" {
			r.UpdatedPermissions = []control.Permission{control.SetMode(string(got.Mode))}
		}
	}
	raw, err := control.Answer(requestID, r)
	if err != nil {
		return err
	}
	return a.conn.Write(ctx, json.RawMessage(raw))
}

func (a *Agent) send(ctx context.Context, form func(id, text string) ([]byte, error), requestID, text string) error {
	raw, err := form(requestID, text)
	if err != nil {
		return err
	}
	return a.conn.Write(ctx, json.RawMessage(raw))
}

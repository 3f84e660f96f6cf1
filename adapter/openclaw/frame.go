// Package openclaw speaks the exec.approval methods of OpenClaw's gateway (O12):
// agents request and wait, operators hear of it and resolve. A request is
// registered before it is answered, and answered twice if the agent wants that:
// accepted, then the decision.
package openclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Decisions. An approval that expired has none, which is null.
const (
	allowOnce   = "allow-once"
	allowAlways = "allow-always"
	deny        = "deny"
)

const (
	protocol = 4
	hello    = "connect" // the first method
)

// frame is one message either way: a request, its answer, or an event.
type frame struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	OK      *bool           `json:"ok,omitempty"`
	Payload any             `json:"payload,omitempty"`
	Error   *fault          `json:"error,omitempty"`
	Event   string          `json:"event,omitempty"`
	Seq     int64           `json:"seq,omitempty"`
}

type fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (f *fault) Error() string { return f.Message }

func badRequest(format string, args ...any) error {
	return &fault{"INVALID_REQUEST", fmt.Sprintf(format, args...)}
}

// peer is the part of a connection that both sides have.
type peer struct {
	conn      *ws.Session
	explain   func(error) string
	methods   []string
	connected bool
	begin     func(ctx context.Context) // after connect; may be nil
	// call answers a request, now or later with reply.
	call func(ctx context.Context, f frame) error
}

// serve begins with a challenge, as clients expect, and wants "connect" before
// anything else. What a client claims to be there is not believed: it has shown
// its key.
func (p *peer) serve(ctx context.Context) error {
	challenge := map[string]any{"nonce": id.New("non"), "ts": time.Now().UnixMilli()}
	if err := p.conn.Write(ctx, frame{Type: "event", Event: "connect.challenge", Payload: challenge}); err != nil {
		return err
	}
	return p.conn.Run(ctx, p.take)
}

func (p *peer) take(ctx context.Context, raw []byte) error {
	var f frame
	if err := strictjson.UnmarshalLoose(raw, &f); err != nil {
		return err
	}
	switch {
	case f.Type != "req" || f.ID == "":
		return errors.New("a message is a request, with an id")
	case p.connected == (f.Method == hello):
		return errors.New("the first request is connect, and no other")
	case !p.connected:
		return p.connect(ctx, f)
	}
	if err := p.call(ctx, f); err != nil {
		return p.reply(ctx, f.ID, nil, err)
	}
	return nil
}

func (p *peer) connect(ctx context.Context, f frame) error {
	p.connected = true
	err := p.reply(ctx, f.ID, map[string]any{
		"type": "hello-ok", "protocol": protocol, "server": map[string]string{"version": "gatelatch"},
		"features": map[string]any{"methods": p.methods, "events": []string{requested, resolved}},
	}, nil)
	if err == nil && p.begin != nil {
		p.begin(ctx)
	}
	return err
}

// reply answers a request. An error never looks like a decision.
func (p *peer) reply(ctx context.Context, id string, payload any, err error) error {
	ok := err == nil
	out := frame{Type: "res", ID: id, OK: &ok, Payload: payload}
	if err != nil {
		if out.Payload = nil; !errors.As(err, &out.Error) {
			out.Error = &fault{"UNAVAILABLE", p.explain(err)}
			if errors.Is(err, gatelatch.ErrInvalid) || errors.Is(err, gatelatch.ErrSettled) || errors.Is(err, gatelatch.ErrChanged) {
				out.Error.Code = "INVALID_REQUEST"
			}
		}
	}
	return p.conn.Write(ctx, out)
}

func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

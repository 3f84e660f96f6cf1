package openclaw

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/inbox"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Methods of operators, and the events that they get.
const (
	list       = "exec.approval.list"
	resolve    = "exec.approval.resolve"
	resolveAny = "approval.resolve" // as newer clients call it
	requested  = "exec.approval.requested"
	resolved   = "exec.approval.resolved"
)

// An Operator is one connection of who decides.
type Operator struct {
	Seat    *gatelatch.Seat
	Explain func(error) string

	peer
	in  *inbox.Inbox
	seq atomic.Int64
}

// Serve tells of requests and takes decisions, until the connection ends. That
// denies nothing.
func (o *Operator) Serve(ctx context.Context, c ws.Conn, valid func() error) error {
	o.in = inbox.New(o.Seat)
	o.peer = peer{
		conn: &ws.Session{Conn: c, Valid: valid}, explain: o.Explain, methods: []string{list, resolve, resolveAny}, begin: o.follow, call: o.call,
	}
	return o.serve(ctx)
}

func (o *Operator) follow(ctx context.Context) {
	o.conn.Go(func() error {
		return o.in.Follow(ctx, func(l inbox.Item) error { return o.event(ctx, requested, o.approval(l)) },
			func(l inbox.Item) error { return o.event(ctx, resolved, resolvedOf(l)) })
	})
}

func (o *Operator) event(ctx context.Context, name string, payload any) error {
	return o.conn.Write(ctx, frame{Type: "event", Event: name, Payload: payload, Seq: o.seq.Add(1)})
}

func (o *Operator) call(ctx context.Context, f frame) error {
	switch f.Method {
	case list:
		all := []approval{}
		for _, l := range o.in.All() {
			all = append(all, o.approval(l))
		}
		return o.reply(ctx, f.ID, all, nil)
	case resolve, resolveAny:
		if err := o.resolve(ctx, f.Params); err != nil {
			return err
		}
		return o.reply(ctx, f.ID, map[string]bool{"ok": true}, nil)
	}
	return badRequest("unknown method")
}

func (o *Operator) resolve(ctx context.Context, params json.RawMessage) error {
	var p struct {
		ID       string `json:"id"`
		Decision string `json:"decision"`
		Kind     string `json:"kind"`
	}
	if err := strictjson.UnmarshalLoose(params, &p); err != nil {
		return badRequest("invalid exec.approval.resolve params: %v", err)
	}
	d := gatelatch.Decision{State: gatelatch.Allowed}
	switch p.Decision {
	case allowOnce, allowAlways:
	case deny:
		d.State = gatelatch.Denied
	default:
		return badRequest("invalid decision")
	}
	l, err := o.in.Shown(p.ID)
	if err != nil || p.Kind != "" && p.Kind != "exec" {
		return badRequest("unknown or expired approval id")
	}
	if p.Decision == allowAlways {
		if d.Remember, err = o.remember(l); err != nil {
			return badRequest("allow-always is unavailable for this command")
		}
	}
	err = o.in.Decide(ctx, l, d)
	if errors.Is(err, gatelatch.ErrSettled) {
		return badRequest("approval already resolved")
	}
	return err
}

func (o *Operator) remember(l inbox.Item) (*gatelatch.Terms, error) {
	return o.in.Terms(l, gatelatch.ForProject, gatelatch.ForSession)
}

// approval is a request as operators see it.
type approval struct {
	ID          string      `json:"id"`
	Kind        string      `json:"approvalKind"`
	CreatedAtMs *int64      `json:"createdAtMs"`
	ExpiresAtMs *int64      `json:"expiresAtMs"`
	Request     requestView `json:"request"`
}

type requestView struct {
	AgentID          string          `json:"agentId"`
	AllowedDecisions []string        `json:"allowedDecisions"`
	Command          string          `json:"command"`
	Cwd              string          `json:"cwd,omitempty"`
	SessionKey       string          `json:"sessionKey"`
	ToolName         string          `json:"toolName"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	Input            json.RawMessage `json:"input"` // all of it: nothing is decided that was not shown
}

func (o *Operator) approval(l inbox.Item) approval {
	v := requestView{
		AgentID: l.Batch.Agent, AllowedDecisions: []string{allowOnce, deny}, Command: commandOf(l), Cwd: l.Dir,
		SessionKey: l.Batch.Session, ToolName: l.Tool, ToolCallID: l.Ref, Input: l.Input,
	}
	if l.Kind != gatelatch.Permission {
		v.AllowedDecisions = []string{deny} // an answer is more than a yes
	} else if _, err := o.remember(l); err == nil {
		v.AllowedDecisions = []string{allowOnce, allowAlways, deny}
	}
	return approval{l.Name, "exec", millis(l.Batch.Created), millis(l.Deadline), v}
}

// commandOf is the command, or for other tools the whole call.
func commandOf(l inbox.Item) string {
	var in struct {
		Command string `json:"command"`
	}
	if l.Tool == "Bash" && json.Unmarshal(l.Input, &in) == nil && in.Command != "" {
		return in.Command
	}
	return l.Tool + " " + string(l.Input)
}

func resolvedOf(l inbox.Item) any {
	out := map[string]any{"id": l.Name, "decision": nil, "ts": time.Now().UnixMilli()}
	if d := l.Decided; d != nil {
		out["resolvedBy"], out["ts"] = d.By.String(), d.At.UnixMilli()
	}
	switch l.State {
	case gatelatch.Allowed:
		out["decision"] = allowOnce
		if l.Decided != nil && l.Decided.Remember != nil {
			out["decision"] = allowAlways
		}
	case gatelatch.Expired:
	default:
		out["decision"] = deny
	}
	return out
}

package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/inbox"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Messages to and from a person's page (P3, P4). A request is named by the
// gateway's own id: those of two agents may be the same.
type (
	// Request tells that a call waits. It comes anew, under another id, if
	// somebody edited the input.
	Request struct {
		Type    string  `json:"type"` // permission_request
		Request Waiting `json:"request"`
	}
	// Waiting is the call.
	Waiting struct {
		RequestID   string          `json:"request_id"`
		ToolName    string          `json:"tool_name"`
		Input       json.RawMessage `json:"input"`
		Description string          `json:"description,omitempty"` // the agent's own words: foreign text
		ToolUseID   string          `json:"tool_use_id,omitempty"`
		Timestamp   int64           `json:"timestamp"` // milliseconds
	}
	// Response decides.
	Response struct {
		Type         string            `json:"type"` // permission_response
		RequestID    string            `json:"request_id"`
		Behavior     string            `json:"behavior"`
		UpdatedInput json.RawMessage   `json:"updated_input,omitempty"`
		Message      string            `json:"message,omitempty"`
		Answers      map[string]string `json:"answers,omitempty"` // to questions
	}
	// Gone tells that a call no longer waits, whoever settled it.
	Gone struct {
		Type      string `json:"type"` // permission_resolved
		RequestID string `json:"request_id"`
		Behavior  string `json:"behavior"`
		By        string `json:"by,omitempty"`
	}
	// Failure tells that a response had no effect (P6).
	Failure struct {
		Type      string `json:"type"` // permission_error
		RequestID string `json:"request_id"`
		Error     string `json:"error"`
	}
)

// A Browser is one connection of a person's page.
type Browser struct {
	Seat    *gatelatch.Seat
	Explain func(error) string
	Log     *slog.Logger
}

// Serve tells of what waits and takes decisions, until the connection ends.
// That denies nothing: others may still decide.
func (b *Browser) Serve(ctx context.Context, c ws.Conn, valid func() error) error {
	in, conn := inbox.New(b.Seat), &ws.Session{Conn: c, Valid: valid}
	conn.Start = func(ctx context.Context) error {
		return in.Follow(ctx, func(l inbox.Item) error { return conn.Write(ctx, requestOf(l)) },
			func(l inbox.Item) error { return conn.Write(ctx, goneOf(l)) })
	}
	return conn.Run(ctx, func(ctx context.Context, raw []byte) error {
		var r Response
		if err := strictjson.UnmarshalLoose(raw, &r); err != nil {
			return err
		}
		if r.Type != "permission_response" {
			return conn.Write(ctx, Failure{"permission_error", r.RequestID, "this kind of message is not known"})
		}
		if err := b.decide(ctx, in, r); err != nil {
			b.Log.Warn("a permission response had no effect", "call", fmt.Sprintf("%.60q", r.RequestID), "err", err)
			return conn.Write(ctx, Failure{"permission_error", r.RequestID, b.Explain(err)})
		}
		return nil
	})
}

func (b *Browser) decide(ctx context.Context, in *inbox.Inbox, r Response) error {
	l, err := in.Shown(r.RequestID)
	if err != nil {
		return err
	}
	d := gatelatch.Decision{Note: r.Message, Answers: r.Answers}
	switch r.Behavior {
	case "allow":
		d.State, d.Note = gatelatch.Allowed, ""
		if len(r.UpdatedInput) > 0 {
			if l, err = in.Edit(ctx, l, r.UpdatedInput); err != nil {
				return err
			}
		}
	case "deny":
		d.State = gatelatch.Denied
	default:
		return fmt.Errorf("%w: behavior is allow or deny", gatelatch.ErrInvalid)
	}
	if d.State == gatelatch.Denied && len(r.UpdatedInput) > 0 {
		return errors.Join(gatelatch.ErrInvalid, errors.New("a denied call has no input"))
	}
	return in.Decide(ctx, l, d)
}

func requestOf(l inbox.Item) Request {
	return Request{"permission_request", Waiting{
		RequestID: l.Name, ToolName: l.Tool, Input: l.Input, Description: l.Claim, ToolUseID: l.Ref, Timestamp: l.Batch.Created.UnixMilli(),
	}}
}

func goneOf(l inbox.Item) Gone {
	g := Gone{Type: "permission_resolved", RequestID: l.Name, Behavior: "deny"}
	if l.State == gatelatch.Allowed {
		g.Behavior = "allow"
	}
	if l.Decided != nil {
		g.By = l.Decided.By.String()
	}
	return g
}

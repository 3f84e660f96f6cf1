package sema

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

// UI is one connection of a user interface.
type UI struct {
	Seat    *gatelatch.Seat
	Explain func(error) string
	Log     *slog.Logger
	// Patch returns what an edit would change, if the call is one; may be nil.
	Patch func(gatelatch.Listed) string
}

// Serve sends the events of all agents and takes answers, until the connection
// ends. That denies nothing.
func (u *UI) Serve(ctx context.Context, c ws.Conn, valid func() error) error {
	in, conn := inbox.New(u.Seat), &ws.Session{Conn: c, Valid: valid}
	conn.Start = func(ctx context.Context) error {
		return in.Follow(ctx, func(l inbox.Item) error { return conn.Write(ctx, u.event(l)) },
			func(l inbox.Item) error { return settled(ctx, conn, l) })
	}
	return conn.Run(ctx, func(ctx context.Context, raw []byte) error {
		var m incoming
		if err := strictjson.UnmarshalLoose(raw, &m); err != nil {
			return err
		}
		var r response
		if err := strictjson.UnmarshalLoose(m.Data, &r); err != nil {
			return err
		}
		if err := decide(ctx, in, m.Method, r); err != nil {
			u.Log.Warn("an answer had no effect", "method", fmt.Sprintf("%.40q", m.Method), "err", err)
			return conn.Write(ctx, message{Event: errorEvent, Data: failure{r.AgentID, r.RequestID, u.Explain(err)}})
		}
		return nil
	})
}

func (u *UI) event(l inbox.Item) message {
	r := request{AgentID: l.Batch.Session, RequestID: l.Name, ToolName: l.Tool}
	switch l.Kind {
	case gatelatch.Permission:
	case gatelatch.Question:
		var in struct{ Questions, Metadata json.RawMessage }
		_ = json.Unmarshal(l.Input, &in) // what can't be read is not asked
		r.ToolName, r.Questions, r.Metadata = "", in.Questions, in.Metadata
		return message{Event: questionEvent, Data: r}
	case gatelatch.Plan:
		plan := planOf(l)
		r.ToolName, r.PlanContent, r.PlanFilePath = "", plan.PlanContent, plan.PlanFilePath
		r.Options = map[string]string{
			string(gatelatch.StartEditing): "Start, and keep the conversation", string(gatelatch.ClearContextAndStart): "Start from the plan alone",
		}
		return message{Event: planEvent, Data: r}
	}
	r.Title, r.Input = title(l), l.Input
	r.Options = map[string]string{agree: "Allow once", allow: "Allow and remember", refuse: "Deny and stop"}
	if u.Patch != nil {
		if patch := u.Patch(l.Listed); patch != "" {
			r.Content = &content{Type: "diff", Patch: patch}
		}
	}
	return message{Event: permissionEvent, Data: r}
}

// title is the command of a Bash call, and otherwise the tool: never the
// agent's own words about it.
func title(l inbox.Item) string {
	var in struct {
		Command string `json:"command"`
	}
	if l.Tool == "Bash" && json.Unmarshal(l.Input, &in) == nil && in.Command != "" {
		return in.Command
	}
	return l.Tool
}

func planOf(l inbox.Item) (out implement) {
	var in struct{ Plan, PlanFilePath string }
	_ = json.Unmarshal(l.Input, &in) // what can't be read is shown as no plan
	return implement{in.PlanFilePath, in.Plan}
}

// settled tells that a request is over, and of a plan that is to be carried out
// from the plan alone.
func settled(ctx context.Context, c ws.Conn, l inbox.Item) error {
	out := response{AgentID: l.Batch.Session, RequestID: l.Name, Selected: string(l.State)}
	if err := c.Write(ctx, message{Event: settledEvent, Data: out}); err != nil {
		return err
	}
	if l.State == gatelatch.Allowed && l.Decided != nil && l.Decided.Choice == gatelatch.ClearContextAndStart {
		return c.Write(ctx, message{Event: implementEvent, Data: planOf(l)})
	}
	return nil
}

// decide finds the request that is meant. Its kind and its agent must fit.
func decide(ctx context.Context, in *inbox.Inbox, method string, r response) error {
	kind := kindOf(method)
	if kind == "" {
		return fmt.Errorf("%w: this method is not known", gatelatch.ErrInvalid)
	}
	fits := func(l inbox.Like) bool {
		return l.Kind == kind && (r.AgentID == "" || r.AgentID == l.Session) && (r.ToolName == "" || r.ToolName == l.Tool)
	}
	var l inbox.Item
	var err error
	if r.RequestID == "" {
		l, err = in.Only(fits)
	} else if l, err = in.Shown(r.RequestID); err == nil && !fits(l.Like()) {
		err = fmt.Errorf("the answer is not for this request: %w", gatelatch.ErrNotFound)
	}
	if err != nil {
		return err
	}
	d, err := decision(in, l, r)
	if err != nil {
		return err
	}
	return in.Decide(ctx, l, d)
}

func decision(in *inbox.Inbox, l inbox.Item, r response) (d gatelatch.Decision, err error) {
	d.State = gatelatch.Allowed
	switch {
	case l.Kind == gatelatch.Question:
		d.Answers = r.Answers
	case l.Kind == gatelatch.Plan:
		if d.Choice = gatelatch.Choice(r.Selected); d.Choice == "" {
			err = fmt.Errorf("%w: nothing is selected", gatelatch.ErrInvalid)
		}
	case r.Selected == agree:
	case r.Selected == allow:
		d.Remember, err = in.Terms(l, scopes(l.Tool)...)
	case r.Selected == refuse:
		d = gatelatch.Decision{State: gatelatch.Denied, Interrupt: true}
	case r.Selected != "":
		d = gatelatch.Decision{State: gatelatch.Denied, Reply: true, Note: r.Selected}
	default:
		err = errors.Join(gatelatch.ErrInvalid, errors.New("nothing is selected"))
	}
	return d, err
}

// scopes is how far "allow" reaches: edits of files for the session (S4), all
// else for the project (S5).
func scopes(tool string) []gatelatch.Scope {
	switch tool {
	case "Edit", "Write", "NotebookEdit", "MultiEdit":
		return []gatelatch.Scope{gatelatch.ForSession}
	}
	return []gatelatch.Scope{gatelatch.ForProject, gatelatch.ForSession}
}

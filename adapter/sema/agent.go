package sema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/ask"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// An Agent is one connection of a core, which may have several agents.
type Agent struct {
	Desk    *ask.Desk
	Service gatelatch.Service
	Session gatelatch.SessionInfo // each agent has one of its own in it
	Explain func(error) string
	Log     *slog.Logger

	conn *ws.Session
}

// Serve answers until the connection ends; questions stay.
func (a *Agent) Serve(ctx context.Context, c ws.Conn, valid func() error) error {
	a.conn = &ws.Session{Conn: c, Valid: valid}
	return a.conn.Run(ctx, a.take)
}

func (a *Agent) take(ctx context.Context, raw []byte) error {
	var m incoming
	if err := strictjson.UnmarshalLoose(raw, &m); err != nil {
		return err
	}
	var r request
	if err := strictjson.UnmarshalLoose(m.Data, &r); err != nil {
		return fmt.Errorf("%.40q: %w", m.Event, err)
	}
	q, method, err := a.question(m.Event, r)
	switch {
	case m.Event == cancelEvent:
		a.conn.Cancel(name(r), ask.ErrCancelled)
		return nil
	case method == "": // an agent never hangs
		a.Log.Warn("a core sent an event that is not known", "event", fmt.Sprintf("%.60q", m.Event))
		return a.conn.Write(ctx, message{Event: errorEvent, Data: failure{r.AgentID, r.RequestID, "this event is not known"}})
	case err != nil:
		return a.answer(ctx, method, r, ask.Answer{}, err)
	}
	if !a.conn.Begin(ctx, name(r), func(wait context.Context) error {
		got, err := a.Desk.Ask(wait, a.Service, q, nil)
		if ws.Over(wait) {
			return nil
		}
		return a.answer(ctx, method, r, got, err)
	}) {
		// Both answers would be for the same name, and one could be taken for the other.
		return a.answer(ctx, method, r, ask.Answer{}, errors.New("another request like this waits; give each a requestId"))
	}
	return nil
}

// name is what the core tells its requests apart by.
func name(r request) string {
	if r.RequestID != "" {
		return "id " + r.RequestID
	}
	return "tool " + r.AgentID + " " + r.ToolName
}

func (a *Agent) question(event string, r request) (q ask.Question, method string, err error) {
	q = ask.Question{Session: a.Session, ID: r.RequestID, Tool: r.ToolName, Claim: r.Title, Fixed: true}
	if q.Session.ID += r.AgentID; r.AgentID == "" {
		err = errors.New("the event has no agentId")
	}
	if q.ID == "" {
		q.ID = id.New("sema")
	}
	var input any = r.Input
	switch event {
	case permissionEvent:
		method = permissionAnswer
		if r.ToolName == "" {
			err = errors.New("the event names no tool")
		}
		if len(r.Input) == 0 {
			input = inputOf(r)
		}
	case questionEvent:
		method, q.Tool = questionAnswer, "AskUserQuestion"
		if len(r.Questions) == 0 {
			err = errors.New("the event asks nothing")
		}
		fields := map[string]json.RawMessage{"questions": r.Questions}
		if len(r.Metadata) > 0 {
			fields["metadata"] = r.Metadata
		}
		input = fields
	case planEvent:
		method, q.Tool = planAnswer, "ExitPlanMode"
		input = map[string]string{"plan": r.PlanContent, "planFilePath": r.PlanFilePath}
	default:
		return q, "", err
	}
	raw, bad := strictjson.Marshal(input)
	q.Input = raw
	return q, method, errors.Join(err, bad)
}

// inputOf is the call as far as the event tells it: the title of a Bash call is
// its command.
func inputOf(r request) any {
	if r.ToolName == "Bash" {
		return map[string]string{"command": r.Title}
	}
	in := map[string]any{"title": r.Title}
	if r.Content != nil {
		in["content"] = r.Content
	}
	return in
}

// answer goes back to the agent that asked, by the names that it asked with. A
// plan or a question has no answer that refuses: it hears nothing but an error.
func (a *Agent) answer(ctx context.Context, method string, r request, got ask.Answer, err error) error {
	out := response{AgentID: r.AgentID, RequestID: r.RequestID, ToolName: r.ToolName}
	text := got.Text
	if err != nil {
		text = a.Explain(err)
	}
	switch {
	case method == permissionAnswer && got.Allowed:
		out.Selected = agree // never allow: what is remembered is remembered here
	case method == permissionAnswer:
		out.Selected = selected(text, got.Interrupt)
	case !got.Allowed:
		return a.conn.Write(ctx, message{Event: errorEvent, Data: failure{r.AgentID, r.RequestID, text}})
	case method == questionAnswer:
		out.Answers = got.Answers
	default:
		if out.Selected = string(got.Choice); out.Selected == "" {
			out.Selected = string(gatelatch.StartEditing)
		}
	}
	return a.conn.Write(ctx, message{Method: method, Data: out})
}

// selected is a refusal: a word if the turn is to end, else text for the model.
// No text of anybody's is one of the words that allow.
func selected(text string, interrupt bool) string {
	if interrupt {
		return refuse
	}
	if text == agree || text == allow || text == "" {
		return "The request was denied: " + text
	}
	return text
}

package server

import (
	"encoding/json"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

// view returns a call as people see it, and what an allow could remember.
func (q *request) view(l gatelatch.Listed, remember bool) api.Call {
	c := l.Call
	var files render.Files
	if c.State == gatelatch.Pending && len(c.Input) <= maxFile {
		files = filesOf(l.Session)
	}
	out := api.Call{
		ID: c.ID, Batch: batchInfo(l.Batch, c.ID), Agent: l.Session.Agent, Session: fromSession(l.Session), Mode: modeOf(l.Session), Rules: q.rulesMode(l.Session), Kind: string(c.Kind),
		Tool: render.OneLine(c.Tool), Dir: render.OneLine(c.Dir), State: string(c.State), Digest: c.Digest.String(), Same: sameOf(l),
		Created: l.Batch.Created, Verdict: verdict(c.Verdict, c.Input), Decided: decided(c.Decided),
		Claim: render.Escape(c.Claim), Parked: l.Batch.Parked != nil,
		Context: api.Context{Prompt: render.Escape(l.Batch.Context.Prompt), Said: render.Escape(l.Batch.Context.Said), Via: render.OneLine(l.Batch.Context.Via)},
		Input:   c.Input, Replaced: c.InputSum != c.Proposed,
		Card: render.Call(c, files),
	}
	if out.Card.Blocks == nil {
		out.Card.Blocks = []api.Block{} // a list is never null on the wire
	}
	out.Deadline, out.Lapses = timeOrNil(c.Deadline), timeOrNil(c.Lapses)
	out.Bound = viewBound(c.Bound)
	if c.State == gatelatch.Pending {
		out.Left = timeOrNil(l.Batch.Left)
	}
	if c.Consumed != nil {
		out.Consumed, out.Lapses = &c.Consumed.At, nil
	}
	if c.Outcome != nil {
		out.Outcome = &api.Outcome{Kind: string(c.Outcome.Kind), At: c.Outcome.At}
	}
	if c.Edited != nil {
		out.Edited = &api.Edited{By: actor(c.Edited.By), At: c.Edited.At}
	}
	if remember && c.State == gatelatch.Pending && c.Kind == gatelatch.Permission {
		out.Remember = q.remember(l)
		if n := out.Verdict.Needs; n != nil {
			n.Rememberable = slices.ContainsFunc(out.Remember, func(r api.Remember) bool { return r.Refused == "" })
		}
	}
	return out
}

func batchInfo(b *gatelatch.Batch, callID string) api.BatchInfo {
	info := api.BatchInfo{ID: b.ID, Turn: render.OneLine(b.Turn), Size: len(b.Calls), Opened: b.Opened != nil}
	for i, c := range b.Calls {
		if c.ID == callID {
			info.Position = i + 1
		}
		if !c.State.Settled() {
			info.Waiting++
		}
	}
	return info
}

func fromSession(s *gatelatch.Session) api.Session {
	return api.Session{
		ID: render.OneLine(s.ID), Name: render.OneLine(s.Name), Project: render.OneLine(s.Project),
		Mode: render.OneLine(s.Mode), Host: render.OneLine(s.Host),
	}
}

func verdict(v gatelatch.Verdict, input []byte) api.Verdict {
	out := api.Verdict{Effect: v.Effect.String()}
	for _, e := range v.Errors {
		out.Errors = append(out.Errors, render.OneLine(e))
	}
	for _, r := range v.Reasons {
		out.Reasons = append(out.Reasons, api.Reason{
			Effect: r.Effect.String(), Layer: render.OneLine(r.Layer), Rule: render.OneLine(r.Rule), Source: render.OneLine(r.Source),
			Message: sentence(render.OneLine(r.Message)), Field: render.OneLine(r.Field), Part: render.OneLine(r.Part),
		})
	}
	out.Needs = needs(v.Needs, input)
	return out
}

func needs(n *gatelatch.Needs, input []byte) *api.Needs {
	if n == nil {
		return nil
	}
	out := &api.Needs{
		Type: string(n.Type), Signature: render.OneLine(n.Signature),
		Info: oneLines(n.Info), Paths: oneLines(n.Paths),
	}
	if n.Type == gatelatch.NeedCommand {
		var in struct {
			Command string `json:"command"`
		}
		_ = json.Unmarshal(input, &in) // without a command there is none to show
		out.Command = render.Escape(in.Command)
	}
	return out
}

func oneLines(texts []string) (out []string) {
	for _, s := range texts {
		out = append(out, render.OneLine(s))
	}
	return out
}

func decided(d *gatelatch.Decision) *api.Decided {
	if d == nil {
		return nil
	}
	out := api.FromDecision(d)
	out.By, out.Note = actor(d.By), render.Escape(d.Note)
	return out
}

func actor(a gatelatch.Actor) api.Actor {
	return api.Actor{Kind: string(a.Kind), ID: a.ID, Name: render.OneLine(a.Name)}
}

// sentence begins with a capital: reasons are written like errors and read
// like sentences.
func sentence(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

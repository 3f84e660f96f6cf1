package server

import (
	"context"
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/history"
	"github.com/gatelatch/gatelatch/redact"
	"github.com/gatelatch/gatelatch/render"
)

// Rulebook is the rules that the gate judges by, to look at.
type Rulebook interface {
	For(*gatelatch.Session) *policy.Set
	Text() string // the user's, as they are written
	Problem() string
}

func (s *Server) rulebook() (Rulebook, error) {
	if s.opt.Rules == nil {
		return nil, invalid(errors.New("this gateway has no rules to look at"))
	}
	return s.opt.Rules, nil
}

// rules lists what is in force, also in the projects of the newest sessions.
func rules(s *Server, q *request) (api.Rules, error) {
	out := api.Rules{Rules: []api.Rule{}}
	book, err := s.rulebook()
	if err != nil {
		return out, err
	}
	p, err := policyInForce(s, q)
	if err != nil {
		return out, err
	}
	out.Revision, out.Path, out.Problem = p.Revision, p.Path, render.OneLine(book.Problem())
	sessions, err := q.seat.Sessions(q.Context(), maxSessions)
	if err != nil {
		return out, err
	}
	ctx, stop := context.WithTimeout(q.Context(), patience)
	defer stop()
	calls, _, err := s.past.read(ctx, q.base(), q.seat)
	if err != nil {
		return out, err
	}
	used := usedRules(calls)
	add := func(r policy.Rule, project string) {
		v := viewRule(r, project)
		if u, ok := used[spoke{r.Effect.String(), r.Layer, r.Text, r.Source}]; ok {
			v.Used, v.LastUsed = u.times, &u.last
		}
		out.Rules = append(out.Rules, v)
	}
	for _, r := range book.For(nil).Rules() {
		add(r, r.Project)
	}
	seen := map[string]bool{}
	for _, sess := range sessions {
		if seen[sess.Project] {
			continue
		}
		seen[sess.Project] = true
		for _, r := range book.For(sess).Rules() {
			if r.Layer == "project" {
				add(r, sess.Project)
			}
		}
	}
	return out, nil
}

type use struct {
	times int
	last  time.Time
}

// usedRules counts how often each rule spoke. A rule that moved to another
// line is another one.
func usedRules(calls []settled) map[spoke]use {
	out := map[spoke]use{}
	for i := range calls {
		for _, r := range calls[i].rules {
			u := out[r]
			if u.times++; calls[i].at.After(u.last) {
				u.last = calls[i].at
			}
			out[r] = u
		}
	}
	return out
}

func viewRule(r policy.Rule, project string) api.Rule {
	v := api.Rule{
		Effect: r.Effect.String(), Text: render.OneLine(r.Text), Layer: r.Layer, Source: render.OneLine(r.Source),
		Project: render.OneLine(project), Why: render.OneLine(r.Why), Until: timeOrNil(r.Until),
	}
	for _, c := range r.Where {
		v.Where = append(v.Where, render.OneLine(c.String()))
	}
	return v
}

// found is what suggesting came to.
type found struct {
	*history.Suggestions
	calls int
}

// goodFor is how long suggestions are shown before they are looked for anew.
const goodFor = 15 * time.Minute

func suggest(s *Server, q *request, in api.SuggestRules) (api.Suggestions, error) {
	out := api.Suggestions{Rules: []api.Suggestion{}}
	book, err := s.rulebook()
	if err != nil {
		return out, err
	}
	p := s.desk.suggesting(in.Anew, func() *piece[*found] {
		set, seat := book.For(nil), q.seat
		return begin(q.base(), &s.desk, func(ctx context.Context, p *piece[*found]) (*found, error) {
			f := &found{}
			src := records(ctx, seat, func(n int) { f.calls = n; p.done.Store(int64(n)) })
			var err error
			f.Suggestions, err = history.Suggest(ctx, set, src, history.SuggestOptions{})
			return f, err
		})
	})
	if !p.wait(q.Context()) {
		out.Work = p.state()
		return out, nil
	}
	if p.err != nil {
		return out, p.err
	}
	out.Work, out.At, out.Asks, out.Calls = api.Work{Ready: true, Done: p.result.calls}, &p.at, p.result.Asks, p.result.calls
	for _, r := range p.result.Rules {
		if redact.Has(r.Rule) { // no rule holds a secret
			continue
		}
		out.Rules = append(out.Rules, viewSuggestion(r))
	}
	return out, nil
}

func viewSuggestion(r history.Suggestion) api.Suggestion {
	v := api.Suggestion{Match: render.OneLine(r.Rule), Saves: r.Saves, Undecided: r.Undecided, Also: render.OneLine(r.Also), Examples: []string{}}
	for _, e := range r.Examples {
		v.Examples = append(v.Examples, subject(e))
		v.Call = e.Call
	}
	return v
}

// subject is a recorded call in one line.
func subject(r history.Record) string {
	tool := redact.Text(r.Tool)
	return render.OneLine(tool) + " " + render.Call(&gatelatch.Call{Kind: r.Kind, Tool: tool, Input: redact.JSON(r.Input), Dir: r.Dir}, nil).Subject
}

// suggesting returns the work that is under way or still good, or begins it.
func (d *desk) suggesting(anew bool, start func() *piece[*found]) *piece[*found] {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.suggest
	if p == nil || p.isReady() && (anew || p.err != nil || time.Since(p.at) > goodFor) {
		d.suggest = start()
	}
	return d.suggest
}

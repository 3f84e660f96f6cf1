package server

import (
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

// maxSessions is how many a list has.
const maxSessions = 200

func sessions(_ *Server, q *request) (api.Sessions, error) {
	ss, err := q.seat.Sessions(q.Context(), maxSessions)
	out := api.Sessions{Sessions: []api.AgentSession{}}
	if err != nil {
		return out, err
	}
	waiting, err := q.inReview()
	for _, s := range ss {
		v := q.viewSession(s)
		v.Review = waiting[[2]string{s.Agent, s.ID}]
		out.Sessions = append(out.Sessions, v)
	}
	return out, err
}

// inReview counts what waits, by agent and session.
func (q *request) inReview() (map[[2]string]int, error) {
	const pages = 4
	out := map[[2]string]int{}
	query := gatelatch.Query{Pending: true, Limit: 500}
	for range pages {
		p, err := q.seat.List(q.Context(), query)
		for _, l := range p.Calls {
			out[[2]string{l.Batch.Agent, l.Batch.Session}]++
			query.After = l.ID
		}
		if err != nil || !p.More {
			return out, err
		}
	}
	return out, nil
}

func setMode(s *Server, q *request, in api.SetMode) (api.AgentSession, error) {
	sess, err := q.seat.SetMode(q.Context(), in.Agent, in.Session,
		gatelatch.ModeTerms{Mode: gatelatch.Mode(in.Mode), For: time.Duration(in.For) * time.Second, Signed: q.passkey})
	if err != nil {
		return api.AgentSession{}, err
	}
	return q.viewSession(sess), nil
}

func (q *request) viewSession(s *gatelatch.Session) api.AgentSession {
	return api.AgentSession{Agent: s.Agent, Session: fromSession(s), Since: s.Since, Mode: modeOf(s), Rules: q.rulesMode(s)}
}

// modeOf is the mode that a person chose, while it holds.
func modeOf(s *gatelatch.Session) *api.Mode {
	if s.ModeAt(time.Now()) == "" {
		return nil
	}
	c := s.Chosen
	return &api.Mode{Mode: string(c.Mode), Until: timeOrNil(c.Until), By: actor(c.By), At: c.At}
}

// policyInForce returns the rules; before anything was noted they have no text.
func policyInForce(s *Server, q *request) (api.Policy, error) {
	if s.opt.Note != nil {
		if err := s.opt.Note(q.Context()); err != nil {
			return api.Policy{}, err
		}
	}
	rev, err := q.seat.Policy(q.Context())
	if errors.Is(err, gatelatch.ErrNotFound) {
		rev, err = &gatelatch.Revision{}, nil
	}
	if err != nil {
		return api.Policy{}, err
	}
	return s.viewPolicy(rev), nil
}

func applyPolicy(s *Server, q *request, in api.ApplyPolicy) (api.Policy, error) {
	rev, err := q.seat.ApplyPolicy(q.Context(), in.From, in.Text, in.Note)
	if err != nil {
		return api.Policy{}, err
	}
	return s.viewPolicy(rev), nil
}

// viewPolicy gives the text as it is: a person wrote it, and gets it back to
// change it.
func (s *Server) viewPolicy(rev *gatelatch.Revision) api.Policy {
	return api.Policy{
		Revision: rev.Number, Text: rev.Text, By: actor(rev.By), At: timeOrNil(rev.At), Note: render.OneLine(rev.Note),
		Shared: s.opt.Policy == "", Path: s.opt.Policy,
	}
}

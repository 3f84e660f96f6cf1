package server

import (
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/render"
)

// maxGrants is how many a list has. There are as many as people made by hand.
const maxGrants = 1000

func edit(s *Server, q *request, in api.Edit) (api.Call, error) {
	var from gatelatch.Sum
	if err := from.UnmarshalText([]byte(in.Digest)); err != nil {
		return api.Call{}, invalid(err)
	}
	input, err := strictjson.Compact(in.Input)
	if err != nil {
		return api.Call{}, invalid(err)
	}
	id := q.PathValue("id")
	if _, err := q.seat.Edit(q.Context(), id, from, input); err != nil {
		return api.Call{}, err
	}
	return s.call(q, id)
}

func grants(_ *Server, q *request) (api.Grants, error) {
	all := false
	for name, values := range q.URL.Query() {
		if name != "all" || len(values) != 1 || values[0] != "true" {
			return api.Grants{}, badQuery(name, "is not known; all=true also gives what was revoked")
		}
		all = true
	}
	gs, err := q.seat.Grants(q.Context(), !all, maxGrants)
	out := api.Grants{Grants: []api.Grant{}}
	for _, g := range gs {
		out.Grants = append(out.Grants, viewGrant(g))
	}
	return out, err
}

func revokeGrant(s *Server, q *request, _ api.None) (api.Grant, error) {
	g, err := q.seat.RevokeGrant(q.Context(), q.PathValue("id"))
	if err != nil {
		return api.Grant{}, err
	}
	return viewGrant(g), nil
}

// viewGrant shows the matcher as it is: it was shown and perhaps typed by a
// person, but quotes an agent.
func viewGrant(g *gatelatch.Grant) api.Grant {
	return api.Grant{
		ID: g.ID, Match: render.OneLine(g.Match), Scope: string(g.Scope), Agent: g.Agent,
		Session: render.OneLine(g.Session), Project: render.OneLine(g.Project), Call: g.Call,
		By: actor(g.By), At: g.At, Until: timeOrNil(g.Until), Uses: g.Uses, Used: g.Used, Server: viewServer(g.Server),
		LastUsed: timeOrNil(g.LastUsed), Revoked: timeOrNil(g.Revoked), Good: g.Good(time.Now()),
	}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// remember says what an allow of each scope would remember.
func (q *request) remember(l gatelatch.Listed) (out []api.Remember) {
	for _, scope := range []gatelatch.Scope{gatelatch.ForSession, gatelatch.ForProject, gatelatch.Always} {
		r := api.Remember{Scope: string(scope)}
		match, err := q.seat.Remember(l, scope)
		switch {
		case err != nil:
			r.Refused = render.OneLine(err.Error())
		case render.OneLine(match) != match:
			// It could not be sent back as it is, and would not be read as it is.
			r.Refused = "the matcher has characters that do not show"
		default:
			r.Match = match
			r.Offers = q.offers(l, scope)
		}
		out = append(out, r)
	}
	return out
}

// offers leaves out what could not be sent back as it is.
func (q *request) offers(l gatelatch.Listed, scope gatelatch.Scope) (out []api.Offer) {
	for _, o := range q.seat.Offers(l, scope) {
		if render.OneLine(o.Match) != o.Match {
			continue
		}
		offer := api.Offer{Match: o.Match}
		for _, also := range o.Also {
			offer.Also = append(offer.Also, render.OneLine(also))
		}
		out = append(out, offer)
	}
	return out
}

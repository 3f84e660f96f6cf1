package server

import (
	"cmp"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

// mutedOf lists agents that may not ask, the first first.
func mutedOf(st gatelatch.Status) (out []api.Muted) {
	for id, m := range st.Muted {
		out = append(out, api.Muted{Agent: id, Name: render.OneLine(m.Name), At: m.At})
	}
	slices.SortFunc(out, func(a, b api.Muted) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Agent, b.Agent)) })
	return out
}

func unmute(s *Server, q *request, _ api.None) (api.Status, error) {
	if err := q.seat.Unmute(q.Context(), q.PathValue("id")); err != nil {
		return api.Status{}, err
	}
	return status(s, q)
}

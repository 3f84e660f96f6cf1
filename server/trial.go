package server

import (
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

// maxExamples is how many calls a trial names.
const maxExamples = 5

func tryMatch(_ *Server, q *request, in api.TryMatch) (api.Trial, error) {
	t, err := q.seat.TryMatch(q.Context(), q.PathValue("id"), in.Match, gatelatch.Scope(in.Scope))
	out := api.Trial{Of: t.Of, Matches: len(t.Matches), Calls: []string{}}
	for _, l := range t.Matches {
		if line := render.Call(veil(l).Call, nil).Subject; len(out.Calls) < maxExamples && !slices.Contains(out.Calls, line) {
			out.Calls = append(out.Calls, line)
		}
	}
	return out, err
}

// rulesMode is the mode that the rules give a session, nil if they say nothing.
func (q *request) rulesMode(s *gatelatch.Session) *api.RulesMode {
	mode, source := q.seat.RulesMode(s)
	if source == "" {
		return nil
	}
	return &api.RulesMode{Mode: string(mode), Source: render.OneLine(source)}
}

package server

import (
	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

func report(_ *Server, q *request, in api.Report) (out api.Reported, err error) {
	r := in.Domain()
	if r.Batch != "" {
		return out, q.seat.Report(q.Context(), r)
	}
	out.Changed, err = q.seat.Ran(q.Context(), r)
	return out, err
}

func park(_ *Server, q *request, in api.Park) (api.None, error) {
	return api.None{}, q.seat.Park(q.Context(), q.PathValue("id"), in.Deferred)
}

func leave(_ *Server, q *request, in api.Leave) (out api.Left, err error) {
	out.Said, err = q.seat.Leave(q.Context(), gatelatch.Leaving(in))
	return out, err
}

func deferrals(_ *Server, q *request) (api.Deferrals, error) {
	out := api.Deferrals{Deferrals: []api.Deferral{}}
	// The end of the trail first: what happens meanwhile is then in the stream.
	st, err := q.seat.Status(q.Context())
	if err != nil {
		return out, err
	}
	out.Seq = int64(st.Seq)
	ls, err := q.seat.Deferrals(q.Context())
	for _, l := range ls {
		l = veil(l)
		out.Deferrals = append(out.Deferrals, api.Deferral{
			Session: fromSession(l.Session), Call: l.ID, Batch: l.Batch.ID, Tool: render.OneLine(l.Tool),
			Subject: render.Call(l.Call, nil).Subject, State: string(l.State), Ready: l.Batch.Ready(), Since: l.Batch.Parked.At,
		})
	}
	return out, err
}

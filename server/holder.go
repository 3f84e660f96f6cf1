package server

import (
	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

func consume(_ *Server, q *request, in api.Consume) (api.AgentCall, error) {
	if err := q.names(&in.Nonce, "nonce"); err != nil {
		return api.AgentCall{}, err
	}
	t := gatelatch.Take{Batch: q.PathValue("id"), Call: in.Call, Fence: in.Fence, Nonce: in.Nonce}
	if err := t.Digest.UnmarshalText([]byte(in.Digest)); err != nil {
		return api.AgentCall{}, invalid(err)
	}
	c, err := q.seat.Consume(q.Context(), t)
	if err != nil {
		return api.AgentCall{}, err
	}
	return api.FromCall(c), nil
}

func renew(_ *Server, q *request, in api.Renew) (api.None, error) {
	return api.None{}, q.seat.Renew(q.Context(), q.PathValue("id"), in.Fence)
}

func extend(_ *Server, q *request, in api.Extend) (api.Batch, error) {
	if err := compact(in.Calls); err != nil {
		return api.Batch{}, err
	}
	b, err := q.seat.Extend(q.Context(), q.PathValue("id"), in.Fence, api.DomainCalls(in.Calls))
	if err != nil {
		return api.Batch{}, err
	}
	return api.FromBatch(b, ""), nil
}

func finish(_ *Server, q *request, in api.Finish) (api.Results, error) {
	rs, err := q.seat.Finish(q.Context(), gatelatch.Finish{Batch: q.PathValue("id"), Fence: in.Fence, Abandon: in.Abandon})
	return api.FromResults(rs), err
}

func results(_ *Server, q *request) (api.Results, error) {
	rs, err := q.seat.Results(q.Context(), q.PathValue("id"))
	return api.FromResults(rs), err
}

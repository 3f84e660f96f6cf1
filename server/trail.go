package server

import (
	"strconv"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

const (
	trailLimit = 1000
	trailBytes = 4 << 20 // of bodies in one part
)

// trail reads the audit trail in parts, each event whole.
func trail(_ *Server, q *request) (out api.Trail, err error) {
	after, limit, err := parseTrail(q.URL.Query())
	if err != nil {
		return out, err
	}
	st, err := q.seat.Status(q.Context())
	if err != nil {
		return out, err
	}
	es, err := q.seat.Events(q.Context(), after, limit)
	if err != nil {
		return out, err
	}
	out = api.Trail{Events: make([]api.Event, 0, len(es)), Seq: int64(st.Seq)}
	size := 0
	for _, e := range es {
		if size += len(e.Body); size > trailBytes && len(out.Events) > 0 {
			break // the rest comes with the next part
		}
		out.Events = append(out.Events, api.FromEvent(e))
	}
	return out, nil
}

func parseTrail(v map[string][]string) (after gatelatch.Seq, limit int, err error) {
	limit = trailLimit
	for name, values := range v {
		if len(values) != 1 {
			return 0, 0, badQuery(name, "is given twice")
		}
		n, err := strconv.ParseInt(values[0], 10, 64)
		switch {
		case name == "after" && err == nil && n >= 0:
			after = gatelatch.Seq(n)
		case name == "after":
			return 0, 0, badQuery(name, "is the number of an event")
		case name == "limit" && err == nil && n >= 1 && n <= trailLimit:
			limit = int(n)
		case name == "limit":
			return 0, 0, badQuery(name, "is a number from 1 to "+strconv.Itoa(trailLimit))
		default:
			return 0, 0, badQuery(name, "is not known")
		}
	}
	return after, limit, nil
}

package server

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

const (
	maxDays   = 90
	mostAsked = 12
	quick     = time.Second // faster than reading
	// patience is how long an answer waits for what is read beside it.
	patience = 2 * time.Second
)

// insight counts what was settled, by days of the zone that is offset minutes
// ahead of UTC.
func insight(s *Server, q *request) (out api.Insight, err error) {
	days, zone, err := parseInsight(q.URL.Query())
	if err != nil {
		return out, err
	}
	ctx, stop := context.WithTimeout(q.Context(), patience)
	defer stop()
	calls, whole, err := s.past.read(ctx, q.base(), q.seat)
	if err != nil {
		return out, err
	}
	out = countDays(calls, days, time.Now().In(zone))
	out.Work = api.Work{Ready: whole, Done: len(calls)}
	return out, nil
}

func parseInsight(v url.Values) (days int, zone *time.Location, err error) {
	days, zone = 30, time.UTC
	for name, values := range v {
		n, bad := strconv.Atoi(values[0])
		switch {
		case len(values) != 1:
			return 0, nil, badQuery(name, "is given twice")
		case name == "days" && bad == nil && n >= 1 && n <= maxDays:
			days = n
		case name == "days":
			return 0, nil, badQuery(name, "is a number from 1 to "+strconv.Itoa(maxDays))
		case name == "offset" && bad == nil && n >= -14*60 && n <= 14*60:
			zone = time.FixedZone("", n*60)
		case name == "offset":
			return 0, nil, badQuery(name, "is minutes ahead of UTC")
		default:
			return 0, nil, badQuery(name, "is not known")
		}
	}
	return days, zone, nil
}

// countDays is the whole of insight: no clock, no store.
func countDays(calls []settled, days int, now time.Time) api.Insight {
	out := api.Insight{Days: make([]api.Day, days), Most: []api.AskedFor{}}
	at := map[string]int{}
	for i := range out.Days {
		date := now.AddDate(0, 0, i-days+1).Format(time.DateOnly)
		out.Days[i].Date, at[date] = date, i
	}
	took := make([][]time.Duration, days)
	var all []time.Duration
	kinds := map[string]*kind{}
	for i := range calls {
		c := &calls[i]
		n, ok := at[c.at.In(now.Location()).Format(time.DateOnly)]
		if !ok {
			continue
		}
		d := &out.Days[n]
		d.Calls++
		out.Calls++
		if !c.asked {
			d.Rules++
			out.Rules++
			continue
		}
		d.Asked++
		out.Asked++
		noteKind(kinds, c)
		if t, ok := c.took(); ok {
			took[n], all = append(took[n], t), append(all, t)
			if t < quick {
				d.Quick++
			}
		}
	}
	for i := range out.Days {
		out.Days[i].Half = half(took[i])
	}
	out.Half = half(all)
	out.Most = most(kinds)
	if len(calls) > 0 {
		out.Since = &calls[len(calls)-1].at
	}
	return out
}

// kind is what was asked about calls of one kind.
type kind struct {
	api.AskedFor
	took    []time.Duration
	example gatelatch.State // of the call that is named
}

func noteKind(kinds map[string]*kind, c *settled) {
	key := c.tool + "\x00" + c.what
	k := kinds[key]
	if k == nil {
		k = &kind{AskedFor: api.AskedFor{What: c.what, Tool: name(c.tool)}}
		kinds[key] = k
	}
	k.Asked++
	switch {
	case c.by == gatelatch.PersonActor && c.state == gatelatch.Allowed:
		k.Allowed++
	case c.by == gatelatch.PersonActor && c.state == gatelatch.Denied:
		k.Denied++
	}
	// The newest that was allowed is the one that a rule is made from.
	if k.Call == "" || k.example != gatelatch.Allowed && c.state == gatelatch.Allowed {
		k.Call, k.example = c.id, c.state
	}
	if t, ok := c.took(); ok {
		k.took = append(k.took, t)
	}
}

func most(kinds map[string]*kind) []api.AskedFor {
	out := []api.AskedFor{}
	for _, k := range kinds {
		k.Half = half(k.took)
		out = append(out, k.AskedFor)
	}
	slices.SortFunc(out, func(a, b api.AskedFor) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.What, b.What))
	})
	return out[:min(len(out), mostAsked)]
}

// half is the time in which at least half was done, in milliseconds.
func half(took []time.Duration) int {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return int(took[(len(took)-1)/2].Milliseconds())
}

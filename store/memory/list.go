package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// place is where a call stands in a list.
type place struct {
	storage.Place
	at  time.Time // when it was proposed or, if it is settled, when that was
	pos int
}

func (p place) compare(q place) int {
	return cmp.Or(p.at.Compare(q.at), strings.Compare(p.Batch, q.Batch), cmp.Compare(p.pos, q.pos))
}

// placeOf returns the place of a call in a list of what waits or is settled.
// One that was settled since keeps its place among those that wait.
func placeOf(x row, pos int, pending bool) place {
	c := x.batch.Calls[pos]
	p := place{storage.Place{Call: c.ID, Batch: x.batch.ID}, x.created[pos], pos}
	if !pending && c.Decided != nil {
		p.at = c.Decided.At
	}
	return p
}

// List implements gatelatch.Reader.
func (r *reader) List(q gatelatch.Query) (gatelatch.Page, error) {
	return storage.List(r, q, func(limit int) (out []storage.Place, err error) {
		order := place.compare
		if !q.Pending || q.Newest {
			order = func(a, b place) int { return b.compare(a) }
		}
		var all []place
		var after *place
		for _, x := range r.batches {
			for i, c := range x.batch.Calls {
				p := placeOf(x, i, q.Pending)
				if c.ID == q.After {
					after = &p
				}
				if q.Pending == (c.State == gatelatch.Pending) {
					all = append(all, p)
				}
			}
		}
		slices.SortFunc(all, order)
		for _, p := range all {
			if q.After == "" || after != nil && order(p, *after) > 0 {
				out = append(out, p.Place)
			}
		}
		return first(out, limit), nil
	})
}

package memory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// place is where a call stands in a list.
type place struct {
	at    time.Time // when its batch was made, or when it was settled
	batch string
	pos   int
	call  string
}

func (p place) compare(q place) int {
	return cmp.Or(p.at.Compare(q.at), strings.Compare(p.batch, q.batch), cmp.Compare(p.pos, q.pos))
}

func placeOf(b *gatelatch.Batch, pos int) place {
	p := place{at: b.Created, batch: b.ID, pos: pos, call: b.Calls[pos].ID}
	if d := b.Calls[pos].Decided; d != nil {
		p.at = d.At
	}
	return p
}

// List implements gatelatch.Reader.
func (r *reader) List(q gatelatch.Query) (p gatelatch.Page, err error) {
	if q.Limit <= 0 || q.Limit > 500 {
		q.Limit = 100
	}
	order := place.compare
	if !q.Pending || q.Newest {
		order = func(a, b place) int { return b.compare(a) }
	}
	var all []place
	for _, x := range r.batches {
		for i, c := range x.batch.Calls {
			if q.Pending == (c.State == gatelatch.Pending) {
				all = append(all, placeOf(x.batch, i))
			}
		}
	}
	slices.SortFunc(all, order)
	if q.After != "" {
		all = behind(all, r.place(q), order)
	}
	p.More = len(all) > q.Limit
	for _, at := range first(all, q.Limit) {
		b, err := r.Batch(at.batch)
		if err != nil {
			return p, err
		}
		s, err := r.Session(b.Agent, b.Session)
		if err != nil {
			return p, err
		}
		p.Calls = append(p.Calls, gatelatch.Listed{Call: b.Call(at.call), Batch: b, Session: s})
	}
	return p, nil
}

// place finds the call to go on behind. In a list of what waits, one that was
// settled since keeps its place.
func (r *reader) place(q gatelatch.Query) *place {
	b := r.batches[r.calls[q.After]].batch
	if b == nil {
		return nil
	}
	pos := slices.IndexFunc(b.Calls, func(c *gatelatch.Call) bool { return c.ID == q.After })
	p := placeOf(b, pos)
	if q.Pending {
		p.at = b.Created
	}
	return &p
}

func behind(all []place, p *place, order func(a, b place) int) []place {
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(all, func(q place) bool { return order(q, *p) <= 0 })
}

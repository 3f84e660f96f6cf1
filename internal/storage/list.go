package storage

import "github.com/gatelatch/gatelatch"

// Limit is how many rows a query may have: most unless it asks for fewer.
func Limit(asked, usual, most int) int {
	if asked <= 0 || asked > most {
		return usual
	}
	return asked
}

// A Place is a call in a list.
type Place struct{ Call, Batch string }

// List assembles a page. find returns places in order, at most limit; each
// batch and session is loaded once.
func List(r gatelatch.Reader, q gatelatch.Query, find func(limit int) ([]Place, error)) (p gatelatch.Page, err error) {
	limit := Limit(q.Limit, 100, 500)
	places, err := find(limit + 1)
	if err != nil {
		return p, err
	}
	if p.More = len(places) > limit; p.More {
		places = places[:limit]
	}
	batches := map[string]*gatelatch.Batch{}
	sessions := map[[2]string]*gatelatch.Session{}
	for _, at := range places {
		b, err := once(batches, at.Batch, func() (*gatelatch.Batch, error) { return r.Batch(at.Batch) })
		if err != nil {
			return p, err
		}
		s, err := once(sessions, [2]string{b.Agent, b.Session}, func() (*gatelatch.Session, error) { return r.Session(b.Agent, b.Session) })
		if err != nil {
			return p, err
		}
		p.Calls = append(p.Calls, gatelatch.Listed{Call: b.Call(at.Call), Batch: b, Session: s})
	}
	return p, nil
}

// once loads what is not known yet.
func once[K comparable, V any](known map[K]V, key K, load func() (V, error)) (V, error) {
	if v, ok := known[key]; ok {
		return v, nil
	}
	v, err := load()
	known[key] = v
	return v, err
}

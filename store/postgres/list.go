package postgres

import (
	"github.com/gatelatch/gatelatch"
	"github.com/jackc/pgx/v5"
)

// List implements gatelatch.Reader.
func (r *reader) List(q gatelatch.Query) (gatelatch.Page, error) {
	limit := q.Limit
	if limit <= 0 || limit > 500 {
		limit = 100
	}
	ids, err := r.listed(q, limit+1)
	if err != nil {
		return gatelatch.Page{}, err
	}
	var p gatelatch.Page
	if p.More = len(ids) > limit; p.More {
		ids = ids[:limit]
	}
	batches := map[string]*gatelatch.Batch{}
	sessions := map[[2]string]*gatelatch.Session{}
	for _, id := range ids {
		b, err := once(batches, id[1], func() (*gatelatch.Batch, error) { return r.Batch(id[1]) })
		if err != nil {
			return p, err
		}
		s, err := once(sessions, [2]string{b.Agent, b.Session}, func() (*gatelatch.Session, error) { return r.Session(b.Agent, b.Session) })
		if err != nil {
			return p, err
		}
		p.Calls = append(p.Calls, gatelatch.Listed{Call: b.Call(id[0]), Batch: b, Session: s})
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

// listed returns pairs of call id and batch id.
func (r *reader) listed(q gatelatch.Query, limit int) (out [][2]string, err error) {
	query, args := `SELECT id, batch FROM call WHERE state='pending' ORDER BY created, batch, pos LIMIT $1`, []any{limit}
	switch {
	case q.Pending && q.After != "":
		query = `SELECT id, batch FROM call WHERE state='pending'
			AND (created, batch, pos) > (SELECT created, batch, pos FROM call WHERE id=$2) ORDER BY created, batch, pos LIMIT $1`
		args = []any{limit, raw(q.After)}
	case !q.Pending && q.After != "":
		query = `SELECT id, batch FROM call WHERE state<>'pending'
			AND (settled, id) < (SELECT settled, id FROM call WHERE id=$2) ORDER BY settled DESC, id DESC LIMIT $1`
		args = []any{limit, raw(q.After)}
	case !q.Pending:
		query = `SELECT id, batch FROM call WHERE state<>'pending' ORDER BY settled DESC, id DESC LIMIT $1`
	}
	err = r.c.each(query, args, func(rows pgx.Rows) error {
		var id, batch text
		err := rows.Scan(&id, &batch)
		out = append(out, [2]string{string(id), string(batch)})
		return err
	})
	return out, err
}

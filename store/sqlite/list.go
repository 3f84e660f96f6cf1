package sqlite

import (
	"database/sql"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// List implements gatelatch.Reader.
func (r *reader) List(q gatelatch.Query) (gatelatch.Page, error) {
	return storage.List(r, q, func(limit int) (out []storage.Place, err error) {
		query, args := places(q), []any{limit}
		if q.After != "" {
			args = []any{q.After, limit}
		}
		err = r.each(query, args, func(rows *sql.Rows) error {
			var p storage.Place
			err := rows.Scan(&p.Call, &p.Batch)
			out = append(out, p)
			return err
		})
		return out, err
	})
}

func places(q gatelatch.Query) string {
	switch after := q.After != ""; {
	case !q.Pending && after:
		return `SELECT id, batch FROM call WHERE state<>'pending'
			AND (settled, id) < (SELECT settled, id FROM call WHERE id=?) ORDER BY settled DESC, id DESC LIMIT ?`
	case !q.Pending:
		return `SELECT id, batch FROM call WHERE state<>'pending' ORDER BY settled DESC, id DESC LIMIT ?`
	case q.Newest && after:
		return `SELECT id, batch FROM call WHERE state='pending'
			AND (created, batch, pos) < (SELECT created, batch, pos FROM call WHERE id=?) ORDER BY created DESC, batch DESC, pos DESC LIMIT ?`
	case q.Newest:
		return `SELECT id, batch FROM call WHERE state='pending' ORDER BY created DESC, batch DESC, pos DESC LIMIT ?`
	case after:
		return `SELECT id, batch FROM call WHERE state='pending'
			AND (created, batch, pos) > (SELECT created, batch, pos FROM call WHERE id=?) ORDER BY created, batch, pos LIMIT ?`
	}
	return `SELECT id, batch FROM call WHERE state='pending' ORDER BY created, batch, pos LIMIT ?`
}

func (r *reader) ids(query string, args ...any) (out []string, err error) {
	err = r.each(query, args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		out = append(out, id)
		return err
	})
	return out, err
}

// Due implements gatelatch.Reader.
func (r *reader) Due(t time.Time, limit int) (batches []string, next time.Time, err error) {
	at := t.UnixMicro()
	if batches, err = r.ids(`SELECT id FROM batch WHERE due<=? ORDER BY due, id LIMIT ?`, at, limit); err != nil {
		return nil, next, err
	}
	var due *int64
	if err = r.c.row(`SELECT MIN(due) FROM batch WHERE due>?`, at).scan(&due); err == nil && due != nil {
		next = time.UnixMicro(*due).UTC()
	}
	return batches, next, err
}

// Permits implements gatelatch.Reader.
func (r *reader) Permits(after string, limit int) ([]string, error) {
	return r.ids(`SELECT id FROM batch WHERE permits AND id>? ORDER BY id LIMIT ?`, after, limit)
}

// Over implements gatelatch.Reader.
func (r *reader) Over(t time.Time, limit int) ([]string, error) {
	return r.ids(`SELECT id FROM batch WHERE over<? ORDER BY over, id LIMIT ?`, t.UnixMicro(), limit)
}

// Live implements gatelatch.Reader.
func (r *reader) Live(agent, session string, limit int) ([]string, error) {
	return r.ids(`SELECT id FROM batch WHERE agent=? AND session=? AND over IS NULL ORDER BY id LIMIT ?`, agent, session, limit)
}

// Waiting implements gatelatch.Reader.
func (r *reader) Waiting(agent, session string, most int) (n int, err error) {
	err = r.c.row(`SELECT COUNT(*) FROM (SELECT 1 FROM call WHERE state='pending' AND agent=? AND (?='' OR session=?) LIMIT ?)`, agent, session, session, most).scan(&n)
	return n, err
}

// Grants implements gatelatch.Reader.
func (r *reader) Grants(live bool, limit int) (out []*gatelatch.Grant, err error) {
	query := `SELECT version, body, sum FROM grants ORDER BY at DESC, id DESC LIMIT ?`
	if live {
		query = `SELECT version, body, sum FROM grants WHERE live ORDER BY at DESC, id DESC LIMIT ?`
	}
	err = r.each(query, []any{storage.Limit(limit, 1000, 1000)}, func(rows *sql.Rows) error {
		g := new(gatelatch.Grant)
		out = append(out, g)
		return body(row{row: rows}, &g.Version, g)
	})
	return out, err
}

// Keys implements gatelatch.Reader.
func (r *reader) Keys(after string, limit int) (out []*gatelatch.Key, err error) {
	err = r.each(`SELECT version, body, sum FROM key WHERE id>? ORDER BY id LIMIT ?`, []any{after, storage.Limit(limit, 1000, 1000)}, func(rows *sql.Rows) error {
		k := new(gatelatch.Key)
		out = append(out, k)
		return body(row{row: rows}, &k.Version, k)
	})
	return out, err
}

// Sessions implements gatelatch.Reader.
func (r *reader) Sessions(limit int) (out []*gatelatch.Session, err error) {
	err = r.each(`SELECT version, body, sum FROM session ORDER BY since DESC, agent DESC, id DESC LIMIT ?`, []any{storage.Limit(limit, 100, 1000)}, func(rows *sql.Rows) error {
		s := new(gatelatch.Session)
		out = append(out, s)
		return body(row{row: rows}, &s.Version, s)
	})
	return out, err
}

// Works implements gatelatch.Reader.
func (r *reader) Works(limit int) (out []*gatelatch.Work, err error) {
	err = r.each(`SELECT version, body, sum FROM work ORDER BY at, id LIMIT ?`, []any{storage.Limit(limit, 1000, 1000)}, func(rows *sql.Rows) error {
		w := new(gatelatch.Work)
		out = append(out, w)
		return body(row{row: rows}, &w.Version, w)
	})
	return out, err
}

package postgres

import (
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/jackc/pgx/v5"
)

// List implements gatelatch.Reader.
func (r *reader) List(q gatelatch.Query) (gatelatch.Page, error) {
	return storage.List(r, q, func(limit int) (out []storage.Place, err error) {
		query, args := places(q), []any{limit}
		if q.After != "" {
			args = append(args, raw(q.After))
		}
		err = r.each("batch", query, args, func(rows pgx.Rows) error {
			var call, batch text
			err := rows.Scan(&call, &batch)
			out = append(out, storage.Place{Call: string(call), Batch: string(batch)})
			return err
		})
		return out, err
	})
}

func places(q gatelatch.Query) string {
	switch after := q.After != ""; {
	case !q.Pending && after:
		return `SELECT id, batch FROM call WHERE state<>'pending'
			AND (settled, id) < (SELECT settled, id FROM call WHERE id=$2) ORDER BY settled DESC, id DESC LIMIT $1`
	case !q.Pending:
		return `SELECT id, batch FROM call WHERE state<>'pending' ORDER BY settled DESC, id DESC LIMIT $1`
	case q.Newest && after:
		return `SELECT id, batch FROM call WHERE state='pending'
			AND (created, batch, pos) < (SELECT created, batch, pos FROM call WHERE id=$2) ORDER BY created DESC, batch DESC, pos DESC LIMIT $1`
	case q.Newest:
		return `SELECT id, batch FROM call WHERE state='pending' ORDER BY created DESC, batch DESC, pos DESC LIMIT $1`
	case after:
		return `SELECT id, batch FROM call WHERE state='pending'
			AND (created, batch, pos) > (SELECT created, batch, pos FROM call WHERE id=$2) ORDER BY created, batch, pos LIMIT $1`
	}
	return `SELECT id, batch FROM call WHERE state='pending' ORDER BY created, batch, pos LIMIT $1`
}

func (r *reader) ids(query string, args ...any) (out []string, err error) {
	err = r.each("batch", query, args, func(rows pgx.Rows) error {
		var id text
		err := rows.Scan(&id)
		out = append(out, string(id))
		return err
	})
	return out, err
}

// Due implements gatelatch.Reader.
func (r *reader) Due(t time.Time, limit int) (batches []string, next time.Time, err error) {
	at := t.UnixMicro()
	if batches, err = r.ids(`SELECT id FROM batch WHERE due<=$1 ORDER BY due, id LIMIT $2`, at, limit); err != nil {
		return nil, next, err
	}
	var due *int64
	if err = r.row("batch", `SELECT MIN(due) FROM batch WHERE due>$1`, at).scan(&due); err == nil && due != nil {
		next = time.UnixMicro(*due).UTC()
	}
	return batches, next, err
}

// Permits implements gatelatch.Reader.
func (r *reader) Permits(after string, limit int) ([]string, error) {
	return r.ids(`SELECT id FROM batch WHERE permits AND id>$1 ORDER BY id LIMIT $2`, raw(after), limit)
}

// Over implements gatelatch.Reader.
func (r *reader) Over(t time.Time, limit int) ([]string, error) {
	return r.ids(`SELECT id FROM batch WHERE over<$1 ORDER BY over, id LIMIT $2`, t.UnixMicro(), limit)
}

// Live implements gatelatch.Reader.
func (r *reader) Live(agent, session string, limit int) ([]string, error) {
	return r.ids(`SELECT id FROM batch WHERE agent=$1 AND session=$2 AND over IS NULL ORDER BY id LIMIT $3`, raw(agent), raw(session), limit)
}

// Waiting implements gatelatch.Reader.
func (r *reader) Waiting(agent, session string, most int) (n int, err error) {
	err = r.row("batch", `SELECT COUNT(*) FROM (SELECT 1 FROM call WHERE state='pending' AND agent=$1 AND ($2::bytea='' OR session=$2) LIMIT $3) AS w`, raw(agent), raw(session), most).scan(&n)
	return n, err
}

// Grants implements gatelatch.Reader.
func (r *reader) Grants(live bool, limit int) (out []*gatelatch.Grant, err error) {
	query := `SELECT version, body, sum FROM grants ORDER BY at DESC, id DESC LIMIT $1`
	if live {
		query = `SELECT version, body, sum FROM grants WHERE live ORDER BY at DESC, id DESC LIMIT $1`
	}
	err = r.each("grants", query, []any{storage.Limit(limit, 1000, 1000)}, func(rows pgx.Rows) error {
		g := new(gatelatch.Grant)
		out = append(out, g)
		return body(one{rows}, &g.Version, g)
	})
	return out, err
}

// Keys implements gatelatch.Reader.
func (r *reader) Keys(after string, limit int) (out []*gatelatch.Key, err error) {
	err = r.each("key", `SELECT version, body, sum FROM key WHERE id>$1 ORDER BY id LIMIT $2`, []any{raw(after), storage.Limit(limit, 1000, 1000)}, func(rows pgx.Rows) error {
		k := new(gatelatch.Key)
		out = append(out, k)
		return body(one{rows}, &k.Version, k)
	})
	return out, err
}

// Sessions implements gatelatch.Reader.
func (r *reader) Sessions(limit int) (out []*gatelatch.Session, err error) {
	err = r.each("session", `SELECT version, body, sum FROM session ORDER BY since DESC, agent DESC, id DESC LIMIT $1`, []any{storage.Limit(limit, 100, 1000)}, func(rows pgx.Rows) error {
		s := new(gatelatch.Session)
		out = append(out, s)
		return body(one{rows}, &s.Version, s)
	})
	return out, err
}

// Works implements gatelatch.Reader.
func (r *reader) Works(limit int) (out []*gatelatch.Work, err error) {
	err = r.each("work", `SELECT version, body, sum FROM work ORDER BY at, id LIMIT $1`, []any{storage.Limit(limit, 1000, 1000)}, func(rows pgx.Rows) error {
		w := new(gatelatch.Work)
		out = append(out, w)
		return body(one{rows}, &w.Version, w)
	})
	return out, err
}

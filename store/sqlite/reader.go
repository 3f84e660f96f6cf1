package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
)

// reader reads one state of the database.
type reader struct {
	c   *connection
	now time.Time
}

var _ gatelatch.Reader = (*reader)(nil)

// Now implements gatelatch.Reader.
func (r *reader) Now() time.Time { return r.now }

// body loads an aggregate and checks its sum: a flipped byte passes SQLite's
// own checks.
func body(row row, version *int64, into any) error {
	var raw, sum []byte
	switch err := row.scan(version, &raw, &sum); {
	case errors.Is(err, sql.ErrNoRows):
		return gatelatch.ErrNotFound
	case err != nil:
		return err
	}
	if want := gatelatch.SumOf(raw); string(sum) != string(want[:]) {
		return errors.New("the database is damaged: a row does not match its checksum")
	}
	return json.Unmarshal(raw, into)
}

// Batch implements gatelatch.Reader.
func (r *reader) Batch(id string) (*gatelatch.Batch, error) {
	return r.batch(r.c.row(`SELECT version, body, sum FROM batch WHERE id=?`, id))
}

// BatchOfCall implements gatelatch.Reader.
func (r *reader) BatchOfCall(callID string) (*gatelatch.Batch, error) {
	return r.batch(r.c.row(`SELECT b.version, b.body, b.sum FROM call c JOIN batch b ON b.id=c.batch WHERE c.id=?`, callID))
}

// BatchOfMessage implements gatelatch.Reader.
func (r *reader) BatchOfMessage(agent, session, message string) (*gatelatch.Batch, error) {
	return r.batch(r.c.row(`SELECT version, body, sum FROM batch WHERE agent=? AND session=? AND message=?`, agent, session, message))
}

// BatchOfPair implements gatelatch.Reader.
func (r *reader) BatchOfPair(agent string, pair gatelatch.Sum, holder string) (*gatelatch.Batch, error) {
	var ids []string
	err := r.each(`SELECT id FROM batch WHERE agent=? AND pair=? AND NOT opened AND claimed IN ('', ?) ORDER BY claimed DESC, created`,
		[]any{agent, pair[:], holder}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
	for _, id := range ids {
		if b, err := r.Batch(id); err != nil || !b.Gone() {
			return b, err
		}
	}
	return nil, errors.Join(err, fmt.Errorf("batch: %w", gatelatch.ErrNotFound))
}

// BatchOfRef implements gatelatch.Reader.
func (r *reader) BatchOfRef(agent, session, ref string) (*gatelatch.Batch, error) {
	if ref == "" {
		return nil, gatelatch.ErrNotFound
	}
	return r.batch(r.c.row(`SELECT b.version, b.body, b.sum FROM call c JOIN batch b ON b.id=c.batch
		WHERE c.agent=? AND c.session=? AND c.ref=? ORDER BY c.created DESC LIMIT 1`, agent, session, ref))
}

func (r *reader) batch(row row) (*gatelatch.Batch, error) {
	b := new(gatelatch.Batch)
	if err := body(row, &b.Version, b); err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	for _, c := range b.Calls {
		if err := r.input(c); err != nil {
			return nil, fmt.Errorf("call %s: %w", c.ID, err)
		}
	}
	return b, nil
}

func (r *reader) input(c *gatelatch.Call) error {
	if err := r.c.row(`SELECT bytes FROM input WHERE hash=?`, c.InputSum[:]).scan(&c.Input); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	if gatelatch.SumOf(c.Input) != c.InputSum {
		return errors.New("the database is damaged: an input does not match its hash")
	}
	return nil
}

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
	for _, id := range ids {
		b := batches[id[1]]
		if b == nil {
			if b, err = r.Batch(id[1]); err != nil {
				return p, err
			}
			batches[id[1]] = b
		}
		s, err := r.Session(b.Agent, b.Session)
		if err != nil {
			return p, err
		}
		p.Calls = append(p.Calls, gatelatch.Listed{Call: b.Call(id[0]), Batch: b, Session: s})
	}
	return p, nil
}

// listed returns pairs of call id and batch id.
func (r *reader) listed(q gatelatch.Query, limit int) (out [][2]string, err error) {
	query, args := `SELECT id, batch FROM call WHERE state='pending' ORDER BY created, batch, pos LIMIT ?`, []any{limit}
	switch {
	case q.Pending && q.After != "":
		query = `SELECT id, batch FROM call WHERE state='pending'
			AND (created, batch, pos) > (SELECT created, batch, pos FROM call WHERE id=?) ORDER BY created, batch, pos LIMIT ?`
		args = []any{q.After, limit}
	case !q.Pending && q.After != "":
		query = `SELECT id, batch FROM call WHERE state<>'pending'
			AND (settled, id) < (SELECT settled, id FROM call WHERE id=?) ORDER BY settled DESC, id DESC LIMIT ?`
		args = []any{q.After, limit}
	case !q.Pending:
		query = `SELECT id, batch FROM call WHERE state<>'pending' ORDER BY settled DESC, id DESC LIMIT ?`
	}
	err = r.each(query, args, func(rows *sql.Rows) error {
		var id [2]string
		err := rows.Scan(&id[0], &id[1])
		out = append(out, id)
		return err
	})
	return out, err
}

func (r *reader) each(query string, args []any, fn func(*sql.Rows) error) error {
	rows, err := r.c.rows(query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Overdue implements gatelatch.Reader.
func (r *reader) Overdue(t time.Time, limit int) (calls []string, next time.Time, err error) {
	err = r.each(`SELECT id, deadline FROM call WHERE state='pending' AND deadline IS NOT NULL ORDER BY deadline LIMIT ?`, []any{limit + 1}, func(rows *sql.Rows) error {
		var id string
		var at int64
		if err := rows.Scan(&id, &at); err != nil {
			return err
		}
		switch due := !time.UnixMicro(at).After(t); {
		case due && len(calls) < limit:
			calls = append(calls, id)
		case next.IsZero():
			next = time.UnixMicro(at)
		}
		return nil
	})
	return calls, next, err
}

// Permits implements gatelatch.Reader.
func (r *reader) Permits(limit int) (batches []string, err error) {
	err = r.each(`SELECT DISTINCT b.id FROM batch b JOIN json_each(b.body, '$.calls') c
		WHERE NOT b.opened AND json_extract(c.value, '$.state')='allowed' ORDER BY b.created LIMIT ?`, []any{limit}, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		batches = append(batches, id)
		return err
	})
	return batches, err
}

// Events implements gatelatch.Reader.
func (r *reader) Events(after gatelatch.Seq, limit int) (out []gatelatch.Event, err error) {
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	err = r.each(`SELECT seq, at, kind, by_kind, by_id, by_name, batch, call, body, prev, link FROM event WHERE seq>? ORDER BY seq LIMIT ?`,
		[]any{after, limit}, func(rows *sql.Rows) error {
			var e gatelatch.Event
			var at int64
			var raw, prev, link []byte
			if err := rows.Scan(&e.Seq, &at, &e.Kind, &e.By.Kind, &e.By.ID, &e.By.Name, &e.Batch, &e.Call, &raw, &prev, &link); err != nil {
				return err
			}
			e.At, e.Body = time.UnixMicro(at).UTC(), raw
			copy(e.Prev[:], prev)
			copy(e.Link[:], link)
			out = append(out, e)
			return nil
		})
	return out, err
}

// LastSeq implements gatelatch.Reader.
func (r *reader) LastSeq() (seq gatelatch.Seq, err error) {
	err = r.c.row(`SELECT COALESCE(MAX(seq), 0) FROM event`).scan(&seq)
	return seq, err
}

// Session implements gatelatch.Reader.
func (r *reader) Session(agent, id string) (*gatelatch.Session, error) {
	s := new(gatelatch.Session)
	if err := body(r.c.row(`SELECT version, body, sum FROM session WHERE agent=? AND id=?`, agent, id), &s.Version, s); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return s, nil
}

// Key implements gatelatch.Reader.
func (r *reader) Key(id string) (*gatelatch.Key, error) {
	return r.key(r.c.row(`SELECT version, body, sum FROM key WHERE id=?`, id))
}

// KeyByHash implements gatelatch.Reader.
func (r *reader) KeyByHash(h gatelatch.Sum) (*gatelatch.Key, error) {
	return r.key(r.c.row(`SELECT version, body, sum FROM key WHERE hash=?`, h[:]))
}

func (r *reader) key(row row) (*gatelatch.Key, error) {
	k := new(gatelatch.Key)
	if err := body(row, &k.Version, k); err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	return k, nil
}

// Pause implements gatelatch.Reader.
func (r *reader) Pause() (p gatelatch.Pause, err error) {
	var one int64
	err = body(r.c.row(`SELECT one, body, sum FROM pause`), &one, &p)
	if errors.Is(err, gatelatch.ErrNotFound) {
		return gatelatch.Pause{}, nil
	}
	return p, err
}

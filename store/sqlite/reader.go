package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// reader reads one state of the database.
type reader struct {
	c    *connection
	now  time.Time
	keys *keys // what it reads is kept there; nil in a transaction
	age  int
}

var _ gatelatch.Reader = (*reader)(nil)

// Now implements gatelatch.Reader.
func (r *reader) Now() time.Time { return r.now }

// body loads an aggregate and checks its sum.
func body(row row, version *int64, into any) error {
	var raw, sum []byte
	switch err := row.scan(version, &raw, &sum); {
	case errors.Is(err, sql.ErrNoRows):
		return gatelatch.ErrNotFound
	case err != nil:
		return err
	}
	return storage.Decode(raw, sum, into)
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
	return r.batch(r.c.row(`SELECT version, body, sum FROM batch WHERE agent=? AND pair=? AND claimed IN ('', ?)
		ORDER BY claimed DESC, created, id LIMIT 1`, agent, pair[:], holder))
}

// BatchOfRef implements gatelatch.Reader.
func (r *reader) BatchOfRef(agent, session, ref string) (*gatelatch.Batch, error) {
	if ref == "" {
		return nil, fmt.Errorf("batch: %w", gatelatch.ErrNotFound)
	}
	return r.batch(r.c.row(`SELECT b.version, b.body, b.sum FROM call c JOIN batch b ON b.id=c.batch
		WHERE c.agent=? AND c.session=? AND c.ref=? AND c.ref<>''`, agent, session, ref))
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

// Result implements gatelatch.Reader.
func (r *reader) Result(sum gatelatch.Sum) (raw []byte, err error) {
	err = r.c.row(`SELECT bytes FROM result WHERE hash=?`, sum[:]).scan(&raw)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("result: %w", gatelatch.ErrNotFound)
	case err != nil:
		return nil, err
	}
	return raw, storage.Check(raw, sum[:])
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

// Events implements gatelatch.Reader.
func (r *reader) Events(after gatelatch.Seq, limit int) (out []gatelatch.Event, err error) {
	err = r.each(`SELECT seq, at, kind, by_kind, by_id, by_name, batch, call, body, prev, link FROM event WHERE seq>? ORDER BY seq LIMIT ?`,
		[]any{after, storage.Limit(limit, 1000, 1000)}, func(rows *sql.Rows) error {
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

// Revision implements gatelatch.Reader.
func (r *reader) Revision(number int64) (*gatelatch.Revision, error) {
	v := new(gatelatch.Revision)
	var version int64
	if err := body(r.c.row(`SELECT 1, body, sum FROM revision WHERE number=?`, number), &version, v); err != nil {
		return nil, fmt.Errorf("revision: %w", err)
	}
	return v, nil
}

// Key implements gatelatch.Reader.
func (r *reader) Key(id string) (*gatelatch.Key, error) {
	return r.key(r.c.row(`SELECT version, body, sum FROM key WHERE id=?`, id))
}

// KeyByHash implements gatelatch.Reader.
func (r *reader) KeyByHash(h gatelatch.Sum) (*gatelatch.Key, error) {
	k, err := r.key(r.c.row(`SELECT version, body, sum FROM key WHERE hash=?`, h[:]))
	if err == nil && r.keys != nil {
		r.keys.keep(*k, r.age)
	}
	return k, err
}

func (r *reader) key(row row) (*gatelatch.Key, error) {
	k := new(gatelatch.Key)
	if err := body(row, &k.Version, k); err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	return k, nil
}

// Grant implements gatelatch.Reader.
func (r *reader) Grant(id string) (*gatelatch.Grant, error) {
	g := new(gatelatch.Grant)
	if err := body(r.c.row(`SELECT version, body, sum FROM grants WHERE id=?`, id), &g.Version, g); err != nil {
		return nil, fmt.Errorf("grant: %w", err)
	}
	return g, nil
}

// Control implements gatelatch.Reader.
func (r *reader) Control() (c gatelatch.Control, err error) {
	var version int64
	if err := body(r.c.row(`SELECT version, body, sum FROM control`), &version, &c); err != nil {
		return c, fmt.Errorf("control: %w", err)
	}
	c.Version = version
	return c, nil
}

package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/clock"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/jackc/pgx/v5"
)

// reader reads one state of the database.
type reader struct {
	c     *connection
	clock *clock.Clock
	now   time.Time
	clean func(table string) error // comes before a query of it; nil if nobody writes
	near  *nearby
	yet   *blobs // what this transaction has yet to write, if any
}

type blobs struct{ inputs, results []blob }

// nearby is the session of a message that was looked for: who does that wants
// it next.
type nearby struct {
	session
	stored
}

// blob is the bytes of an input or a result.
type blob struct {
	sum   gatelatch.Sum
	bytes []byte
}

var _ gatelatch.Reader = (*reader)(nil)

// Now implements gatelatch.Reader.
func (r *reader) Now() time.Time {
	if r.now.IsZero() && r.c.start() == nil {
		r.now = r.clock.By(r.c.at)
	}
	return r.now
}

func (r *reader) row(table, query string, args ...any) row {
	if r.clean != nil {
		if err := r.clean(table); err != nil {
			return row{err: err}
		}
	}
	return r.c.row(query, args...)
}

func (r *reader) each(table, query string, args []any, fn func(pgx.Rows) error) error {
	if r.clean != nil {
		if err := r.clean(table); err != nil {
			return err
		}
	}
	return r.c.each(query, args, fn)
}

// body loads an aggregate and checks its sum.
func body(row scanner, version *int64, into any) error {
	var v stored
	switch err := row.scan(&v.version, &v.body, &v.sum); {
	case errors.Is(err, pgx.ErrNoRows):
		return gatelatch.ErrNotFound
	case err != nil:
		return err
	}
	return v.decode(version, into)
}

func (v *stored) decode(version *int64, into any) error {
	*version = v.version
	return storage.Decode(v.body, v.sum, into)
}

// Result implements gatelatch.Reader.
func (r *reader) Result(sum gatelatch.Sum) (raw []byte, err error) {
	if r.yet != nil {
		for _, b := range r.yet.results {
			if b.sum == sum {
				return append([]byte{}, b.bytes...), nil
			}
		}
	}
	err = r.c.row(`SELECT bytes FROM result WHERE hash=$1`, sum[:]).scan(&raw)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("result: %w", gatelatch.ErrNotFound)
	case err != nil:
		return nil, err
	}
	return raw, storage.Check(raw, sum[:])
}

// Events implements gatelatch.Reader. Within a transaction it shows none of
// those that the transaction itself will write: they have no number yet.
func (r *reader) Events(after gatelatch.Seq, limit int) (out []gatelatch.Event, err error) {
	err = r.c.each(`SELECT seq, at, kind, by_kind, by_id, by_name, batch, call, body, prev, link FROM event WHERE seq>$1 ORDER BY seq LIMIT $2`,
		[]any{int64(after), storage.Limit(limit, 1000, 1000)}, func(rows pgx.Rows) error {
			e, err := scanEvent(rows)
			out = append(out, e)
			return err
		})
	return out, err
}

func scanEvent(rows pgx.Rows) (e gatelatch.Event, err error) {
	var seq, at int64
	var kind, byKind, byID, byName, batch, call text
	var body, prev, link []byte
	err = rows.Scan(&seq, &at, &kind, &byKind, &byID, &byName, &batch, &call, &body, &prev, &link)
	e = gatelatch.Event{
		Seq: gatelatch.Seq(seq), At: time.UnixMicro(at).UTC(), Kind: gatelatch.EventKind(kind),
		By:    gatelatch.Actor{Kind: gatelatch.ActorKind(byKind), ID: string(byID), Name: string(byName)},
		Batch: string(batch), Call: string(call), Body: body,
	}
	copy(e.Prev[:], prev)
	copy(e.Link[:], link)
	return e, err
}

// LastSeq implements gatelatch.Reader.
func (r *reader) LastSeq() (gatelatch.Seq, error) {
	var seq int64
	err := r.c.row(`SELECT seq FROM head`).scan(&seq)
	return gatelatch.Seq(seq), err
}

// Session implements gatelatch.Reader.
func (r *reader) Session(agent, id string) (*gatelatch.Session, error) {
	s := new(gatelatch.Session)
	var err error
	if r.near != nil && r.near.session == (session{agent, id}) {
		err = r.near.decode(&s.Version, s)
	} else {
		err = body(r.c.row(`SELECT version, body, sum FROM session WHERE agent=$1 AND id=$2`, raw(agent), raw(id)), &s.Version, s)
	}
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return s, nil
}

// Revision implements gatelatch.Reader.
func (r *reader) Revision(number int64) (*gatelatch.Revision, error) {
	v := new(gatelatch.Revision)
	var version int64
	if err := body(r.row("revision", `SELECT version, body, sum FROM revision WHERE number=$1`, number), &version, v); err != nil {
		return nil, fmt.Errorf("revision: %w", err)
	}
	return v, nil
}

// Key implements gatelatch.Reader.
func (r *reader) Key(id string) (*gatelatch.Key, error) {
	return r.key(r.c.row(`SELECT version, body, sum FROM key WHERE id=$1`, raw(id)))
}

// KeyByHash implements gatelatch.Reader.
func (r *reader) KeyByHash(h gatelatch.Sum) (*gatelatch.Key, error) {
	return r.key(r.row("key", `SELECT version, body, sum FROM key WHERE hash=$1`, h[:]))
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
	if err := body(r.c.row(`SELECT version, body, sum FROM grants WHERE id=$1`, raw(id)), &g.Version, g); err != nil {
		return nil, fmt.Errorf("grant: %w", err)
	}
	return g, nil
}

// Control implements gatelatch.Reader.
func (r *reader) Control() (c gatelatch.Control, err error) {
	if err = r.c.start(); err == nil {
		err = r.c.control.decode(&c.Version, &c)
	}
	if err != nil {
		return c, fmt.Errorf("control: %w", err)
	}
	return c, nil
}

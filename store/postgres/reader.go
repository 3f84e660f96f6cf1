package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/jackc/pgx/v5"
)

// reader reads one state of the database.
type reader struct {
	c   *connection
	now time.Time
	// What this transaction has yet to write.
	inputs, results []blob
}

// blob is the bytes of an input or a result.
type blob struct {
	sum   gatelatch.Sum
	bytes []byte
}

var _ gatelatch.Reader = (*reader)(nil)

// Now implements gatelatch.Reader.
func (r *reader) Now() time.Time { return r.now }

// body loads an aggregate and checks its sum.
func body(row scanner, version *int64, into any) error {
	var raw, sum []byte
	switch err := row.scan(version, &raw, &sum); {
	case errors.Is(err, pgx.ErrNoRows):
		return gatelatch.ErrNotFound
	case err != nil:
		return err
	}
	return storage.Decode(raw, sum, into)
}

// Batch implements gatelatch.Reader.
func (r *reader) Batch(id string) (*gatelatch.Batch, error) {
	return r.batch(r.c.row(`SELECT version, body, sum FROM batch WHERE id=$1`, raw(id)))
}

// BatchOfCall implements gatelatch.Reader.
func (r *reader) BatchOfCall(callID string) (*gatelatch.Batch, error) {
	return r.batch(r.c.row(`SELECT b.version, b.body, b.sum FROM call c JOIN batch b ON b.id=c.batch WHERE c.id=$1`, raw(callID)))
}

// BatchOfMessage implements gatelatch.Reader.
func (r *reader) BatchOfMessage(agent, session, message string) (*gatelatch.Batch, error) {
	return r.batch(r.c.row(`SELECT version, body, sum FROM batch WHERE agent=$1 AND session=$2 AND message=$3`, raw(agent), raw(session), raw(message)))
}

// BatchOfPair implements gatelatch.Reader.
func (r *reader) BatchOfPair(agent string, pair gatelatch.Sum, holder string) (*gatelatch.Batch, error) {
	return r.batch(r.c.row(`SELECT version, body, sum FROM batch WHERE agent=$1 AND pair=$2 AND claimed IN ('', $3)
		ORDER BY claimed DESC, created, id LIMIT 1`, raw(agent), pair[:], raw(holder)))
}

// BatchOfRef implements gatelatch.Reader.
func (r *reader) BatchOfRef(agent, session, ref string) (*gatelatch.Batch, error) {
	if ref == "" {
		return nil, fmt.Errorf("batch: %w", gatelatch.ErrNotFound)
	}
	return r.batch(r.c.row(`SELECT b.version, b.body, b.sum FROM call c JOIN batch b ON b.id=c.batch
		WHERE c.agent=$1 AND c.session=$2 AND c.ref=$3 AND c.ref<>''`, raw(agent), raw(session), raw(ref)))
}

func (r *reader) batch(row row) (*gatelatch.Batch, error) {
	b := new(gatelatch.Batch)
	if err := body(row, &b.Version, b); err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	if err := r.fill(b); err != nil {
		return nil, fmt.Errorf("batch %s: input: %w", b.ID, err)
	}
	return b, nil
}

// fill gives the calls of b their inputs, all in one query.
func (r *reader) fill(b *gatelatch.Batch) error {
	found := map[gatelatch.Sum][]byte{}
	for _, in := range r.inputs {
		found[in.sum] = in.bytes
	}
	var missing [][]byte
	for _, c := range b.Calls {
		if _, ok := found[c.InputSum]; !ok {
			missing = append(missing, c.InputSum[:])
		}
	}
	if len(missing) > 0 {
		err := r.c.each(`SELECT hash, bytes FROM input WHERE hash=ANY($1)`, []any{missing}, func(rows pgx.Rows) error {
			var hash, bytes []byte
			err := rows.Scan(&hash, &bytes)
			if len(hash) == len(gatelatch.Sum{}) {
				found[gatelatch.Sum(hash)] = bytes
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, c := range b.Calls {
		in, ok := found[c.InputSum]
		if !ok || gatelatch.SumOf(in) != c.InputSum {
			return errors.New("the database is damaged: an input does not match its hash")
		}
		c.Input = append([]byte{}, in...) // calls may share it
	}
	return nil
}

// Result implements gatelatch.Reader.
func (r *reader) Result(sum gatelatch.Sum) (raw []byte, err error) {
	for _, b := range r.results {
		if b.sum == sum {
			return append([]byte{}, b.bytes...), nil
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
	if err := body(r.c.row(`SELECT version, body, sum FROM session WHERE agent=$1 AND id=$2`, raw(agent), raw(id)), &s.Version, s); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return s, nil
}

// Key implements gatelatch.Reader.
func (r *reader) Key(id string) (*gatelatch.Key, error) {
	return r.key(r.c.row(`SELECT version, body, sum FROM key WHERE id=$1`, raw(id)))
}

// KeyByHash implements gatelatch.Reader.
func (r *reader) KeyByHash(h gatelatch.Sum) (*gatelatch.Key, error) {
	return r.key(r.c.row(`SELECT version, body, sum FROM key WHERE hash=$1`, h[:]))
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
	var version int64
	if err := body(r.c.row(`SELECT version, body, sum FROM control`), &version, &c); err != nil {
		return c, fmt.Errorf("control: %w", err)
	}
	c.Version = version
	return c, nil
}

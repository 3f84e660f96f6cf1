package postgres

import (
	"errors"
	"fmt"

	"github.com/gatelatch/gatelatch"
	"github.com/jackc/pgx/v5"
)

// Batch implements gatelatch.Reader.
func (r *reader) Batch(id string) (*gatelatch.Batch, error) {
	return r.batch(r.row("batch", `SELECT version, body, sum, NULL::bytea, NULL::bytea FROM batch WHERE id=$1`, raw(id)))
}

// BatchOfCall implements gatelatch.Reader.
func (r *reader) BatchOfCall(callID string) (*gatelatch.Batch, error) {
	return r.batch(r.row("batch", `SELECT b.version, b.body, b.sum, i.hash, i.bytes FROM call c
		JOIN batch b ON b.id=c.batch LEFT JOIN input i ON i.hash=c.input WHERE c.id=$1`, raw(callID)))
}

// BatchOfMessage implements gatelatch.Reader.
func (r *reader) BatchOfMessage(agent, id, message string) (*gatelatch.Batch, error) {
	var b, s struct {
		version   *int64
		body, sum []byte
	}
	err := r.row("batch", `SELECT b.version, b.body, b.sum, s.version, s.body, s.sum FROM (SELECT $1::bytea AS agent, $2::bytea AS id) k
		LEFT JOIN batch b ON b.agent=k.agent AND b.session=k.id AND b.message=$3
		LEFT JOIN session s ON s.agent=k.agent AND s.id=k.id`, raw(agent), raw(id), raw(message)).
		scan(&b.version, &b.body, &b.sum, &s.version, &s.body, &s.sum)
	if err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	if r.near = nil; s.version != nil {
		r.near = &nearby{session{agent, id}, stored{*s.version, s.body, s.sum}}
	}
	if b.version == nil {
		return nil, fmt.Errorf("batch: %w", gatelatch.ErrNotFound)
	}
	return r.filled(stored{*b.version, b.body, b.sum}, nil)
}

// BatchOfPair implements gatelatch.Reader.
func (r *reader) BatchOfPair(agent string, pair gatelatch.Sum, holder string) (*gatelatch.Batch, error) {
	return r.batch(r.row("batch", `SELECT version, body, sum, NULL::bytea, NULL::bytea FROM batch WHERE agent=$1 AND pair=$2 AND claimed IN ('', $3)
		ORDER BY claimed DESC, created, id LIMIT 1`, raw(agent), pair[:], raw(holder)))
}

// BatchOfRef implements gatelatch.Reader.
func (r *reader) BatchOfRef(agent, session, ref string) (*gatelatch.Batch, error) {
	if ref == "" {
		return nil, fmt.Errorf("batch: %w", gatelatch.ErrNotFound)
	}
	return r.batch(r.row("batch", `SELECT b.version, b.body, b.sum, i.hash, i.bytes FROM call c
		JOIN batch b ON b.id=c.batch LEFT JOIN input i ON i.hash=c.input
		WHERE c.agent=$1 AND c.session=$2 AND c.ref=$3 AND c.ref<>''`, raw(agent), raw(session), raw(ref)))
}

// batch loads one, with an input that its row brought along.
func (r *reader) batch(row row) (*gatelatch.Batch, error) {
	var v stored
	var hash, input []byte
	switch err := row.scan(&v.version, &v.body, &v.sum, &hash, &input); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("batch: %w", gatelatch.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("batch: %w", err)
	}
	found := map[gatelatch.Sum][]byte{}
	if len(hash) == len(gatelatch.Sum{}) {
		found[gatelatch.Sum(hash)] = input
	}
	return r.filled(v, found)
}

func (r *reader) filled(v stored, found map[gatelatch.Sum][]byte) (*gatelatch.Batch, error) {
	b := new(gatelatch.Batch)
	if err := v.decode(&b.Version, b); err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	if err := r.fill(b, found); err != nil {
		return nil, fmt.Errorf("batch %s: input: %w", b.ID, err)
	}
	return b, nil
}

// fill gives the calls of b their inputs, all in one query if some are not yet
// found.
func (r *reader) fill(b *gatelatch.Batch, found map[gatelatch.Sum][]byte) error {
	if found == nil {
		found = map[gatelatch.Sum][]byte{}
	}
	if r.yet != nil {
		for _, in := range r.yet.inputs {
			found[in.sum] = in.bytes
		}
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
			return errInput
		}
		c.Input = append([]byte{}, in...) // calls may share it
	}
	return nil
}

var errInput = errors.New("the database is damaged: an input does not match its hash")

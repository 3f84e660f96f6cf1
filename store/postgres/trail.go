package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/jackc/pgx/v5"
)

func scanHead(r pgx.Row) (h storage.Head, err error) {
	var at int64
	var link []byte
	if err := r.Scan(&h.Seq, &at, &link); err != nil {
		return h, err
	}
	h.At = time.UnixMicro(at).UTC()
	copy(h.Link[:], link)
	return h, nil
}

// Record implements gatelatch.Tx. The event gets its number and its link at the
// end.
func (t *tx) Record(e gatelatch.Event) error {
	t.events = append(t.events, e)
	t.changed = true
	return nil
}

// seal writes what the jobs left for the end. From here to the commit this
// gateway is the only one: the lock is the last thing that it waits for.
func (t *tx) seal() (last gatelatch.Seq, err error) {
	var h storage.Head
	var control int64
	var sessions int
	lock := new(pgx.Batch)
	// Statements of their own: each sees what was committed before it began,
	// and the second begins when the lock is ours.
	lock.Queue(`SELECT seq, at, link FROM head FOR UPDATE`).QueryRow(func(r pgx.Row) error { h, err = scanHead(r); return err })
	lock.Queue(`SELECT version FROM control`).QueryRow(func(r pgx.Row) error { return r.Scan(&control) })
	if len(t.sessions) > 0 {
		agents, ids := sessionColumns(slices.Collect(maps.Keys(t.sessions)))
		lock.Queue(`SELECT count(*) FROM session JOIN unnest($1::bytea[], $2::bytea[]) AS v (agent, id) USING (agent, id)`, agents, ids).
			QueryRow(func(r pgx.Row) error { return r.Scan(&sessions) })
	}
	if err := t.c.send(lock); err != nil {
		return 0, err
	}
	if t.control != 0 && t.control != control || sessions != len(t.sessions) {
		return 0, errMoved
	}
	for i := range t.events {
		h.Take(&t.events[i])
	}
	write := new(pgx.Batch)
	queueBlobs(write, insertInput, t.inputs)
	queueBlobs(write, insertResult, t.results)
	t.idle.queue(write)
	queueEvents(write, t.events)
	write.Queue(`UPDATE head SET seq=$1, at=$2, link=$3`, h.Seq, h.At.UnixMicro(), h.Link[:])
	return h.Seq, t.c.send(write)
}

const (
	insertInput  = `INSERT INTO input (hash, bytes) VALUES ($1,$2) ON CONFLICT DO NOTHING`
	insertResult = `INSERT INTO result (hash, bytes) VALUES ($1,$2) ON CONFLICT DO NOTHING`
)

// queueBlobs writes each by itself: together they could be more than one value
// may hold.
func queueBlobs(b *pgx.Batch, insert string, blobs []blob) {
	seen := map[gatelatch.Sum]bool{}
	for i := range blobs {
		if v := &blobs[i]; !seen[v.sum] {
			seen[v.sum] = true
			b.Queue(insert, v.sum[:], v.bytes)
		}
	}
}

// queue deletes what nobody needs. Whoever holds a session's row is about to
// need it, and waits for the lock that is ours.
func (u *unneeded) queue(b *pgx.Batch) {
	if len(u.inputs) > 0 {
		b.Queue(`DELETE FROM input WHERE hash=ANY($1) AND NOT EXISTS (SELECT FROM call WHERE call.input=input.hash)`, u.inputs)
	}
	if len(u.results) > 0 {
		b.Queue(`DELETE FROM result WHERE hash=ANY($1) AND NOT EXISTS (SELECT FROM call WHERE call.result=result.hash)`, u.results)
	}
	if len(u.sessions) > 0 {
		agents, ids := sessionColumns(u.sessions)
		b.Queue(`WITH held AS (
				SELECT s.agent, s.id FROM session s JOIN unnest($1::bytea[], $2::bytea[]) AS v (agent, id) USING (agent, id)
				WHERE NOT EXISTS (SELECT FROM batch b WHERE b.agent=s.agent AND b.session=s.id) FOR UPDATE OF s SKIP LOCKED
			) DELETE FROM session USING held WHERE session.agent=held.agent AND session.id=held.id`, agents, ids)
	}
}

func sessionColumns(of []session) (agents, ids [][]byte) {
	for _, s := range of {
		agents, ids = append(agents, raw(s.agent)), append(ids, raw(s.id))
	}
	return agents, ids
}

func queueEvents(b *pgx.Batch, events []gatelatch.Event) {
	if len(events) == 0 {
		return
	}
	var seqs, ats []int64
	var cols [9][][]byte
	for i := range events {
		e := &events[i]
		seqs, ats = append(seqs, int64(e.Seq)), append(ats, e.At.UnixMicro())
		for k, v := range [9][]byte{raw(e.Kind), raw(e.By.Kind), raw(e.By.ID), raw(e.By.Name), raw(e.Batch), raw(e.Call), e.Body, e.Prev[:], e.Link[:]} {
			cols[k] = append(cols[k], v)
		}
	}
	b.Queue(`INSERT INTO event (seq, at, kind, by_kind, by_id, by_name, batch, call, body, prev, link)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[])`,
		seqs, ats, cols[0], cols[1], cols[2], cols[3], cols[4], cols[5], cols[6], cols[7], cols[8])
}

// loadHead finds the end of the trail and checks its last link.
func (s *Store) loadHead(ctx context.Context) error {
	return s.view(ctx, func(r *reader) error {
		want, err := scanHead(r.c.conn.QueryRow(forever, `SELECT seq, at, link FROM head`))
		if err != nil {
			return err
		}
		s.known = want.Seq
		last, err := r.Events(max(0, want.Seq-1), 2)
		if err != nil {
			return err
		}
		h, err := storage.HeadOf(last)
		if err == nil && (h.Seq != want.Seq || h.Link != want.Link) {
			err = errors.New("the audit trail is damaged at its end")
		}
		return err
	})
}

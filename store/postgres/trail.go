package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/jackc/pgx/v5"
)

// head is the end of the trail.
type head struct {
	seq  gatelatch.Seq
	at   time.Time
	link gatelatch.Sum
}

func (h *head) scan(r pgx.Row) error {
	var at int64
	var link []byte
	if err := r.Scan(&h.seq, &at, &link); err != nil {
		return err
	}
	h.at = time.UnixMicro(at).UTC()
	copy(h.link[:], link)
	return nil
}

// Record implements gatelatch.Tx.
func (t *tx) Record(e gatelatch.Event) error {
	if e.Body == nil {
		e.Body = []byte{}
	}
	e.At = e.At.UTC().Truncate(time.Microsecond)
	t.events = append(t.events, e)
	t.changed = true
	return nil
}

// seal writes what the jobs left for the end. From here to the commit this
// gateway is the only one: the lock is the last thing that it waits for.
func (t *tx) seal() (last gatelatch.Seq, err error) {
	var h head
	var paused int64
	lock := new(pgx.Batch)
	// Statements of their own: each sees what was committed before it began,
	// and the second begins when the lock is ours.
	lock.Queue(`SELECT seq, at, link FROM head FOR UPDATE`).QueryRow(h.scan)
	lock.Queue(`SELECT version FROM pause`).QueryRow(func(r pgx.Row) error { return r.Scan(&paused) })
	if err := t.c.send(lock); err != nil {
		return 0, err
	}
	if t.paused != 0 && t.paused != paused {
		return 0, errMoved
	}
	for i := range t.events {
		h.take(&t.events[i])
	}
	write := new(pgx.Batch)
	queueInputs(write, t.inputs)
	queueEvents(write, t.events)
	write.Queue(`UPDATE head SET seq=$1, at=$2, link=$3`, h.seq, h.at.UnixMicro(), h.link[:])
	return h.seq, t.c.send(write)
}

// take puts e behind h and makes it the end.
func (h *head) take(e *gatelatch.Event) {
	if e.At.Before(h.at) {
		e.At = h.at
	}
	e.Seq, e.Prev = h.seq+1, h.link
	e.Link = audit.Link(*e)
	*h = head{e.Seq, e.At, e.Link}
}

// queueInputs writes each by itself: together they could be more than one
// value may hold.
func queueInputs(b *pgx.Batch, inputs []input) {
	seen := map[gatelatch.Sum]bool{}
	for i := range inputs {
		if in := &inputs[i]; !seen[in.sum] {
			seen[in.sum] = true
			b.Queue(`INSERT INTO input (hash, bytes) VALUES ($1,$2) ON CONFLICT DO NOTHING`, in.sum[:], in.bytes)
		}
	}
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
		var h head
		if err := h.scan(r.c.conn.QueryRow(forever, `SELECT seq, at, link FROM head`)); err != nil {
			return err
		}
		s.known = h.seq
		es, err := r.Events(max(0, h.seq-1), 2)
		switch {
		case err != nil:
			return err
		case h == (head{at: h.at}) && len(es) == 0:
			return nil
		case len(es) != 1 || es[0].Seq != h.seq || es[0].Link != h.link || audit.Link(es[0]) != h.link:
			return errors.New("the audit trail is damaged at its end")
		}
		return nil
	})
}

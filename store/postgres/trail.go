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

func scanHead(r pgx.Row, more ...any) (h storage.Head, err error) {
	var at int64
	var link []byte
	if err := r.Scan(append([]any{&h.Seq, &at, &link}, more...)...); err != nil {
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
	return nil
}

// queueLock waits for the end of the trail, the last thing that a gateway waits
// for: from there to the commit it is the only one. What it returns then finds
// the sets whose control row or session is not as they saw it.
func (g *group) queueLock(b *pgx.Batch) (moved func() error) {
	var control int64
	var commit string
	relied, there := map[session]bool{}, map[session]bool{}
	for _, w := range g.sets {
		maps.Copy(relied, w.relies)
	}
	// Statements of their own: each sees what was committed before it began,
	// and the second begins when the lock is ours.
	b.Queue(`SELECT seq, at, link, current_setting('synchronous_commit') FROM head FOR UPDATE`).
		QueryRow(func(r pgx.Row) (err error) { g.head, err = scanHead(r, &commit); return err })
	b.Queue(`SELECT version FROM control`).QueryRow(func(r pgx.Row) error { return r.Scan(&control) })
	if len(relied) > 0 {
		agents, ids := sessionColumns(slices.Collect(maps.Keys(relied)))
		b.Queue(`SELECT agent, id FROM session JOIN unnest($1::bytea[], $2::bytea[]) AS v (agent, id) USING (agent, id)`, agents, ids).
			Query(func(rows pgx.Rows) error {
				var agent, id text
				_, err := pgx.ForEachRow(rows, []any{&agent, &id}, func() error { there[session{string(agent), string(id)}] = true; return nil })
				return err
			})
	}
	return func() error {
		for _, w := range g.sets {
			gone := w.control != 0 && w.control != control
			for s := range w.relies {
				gone = gone || !there[s]
			}
			if gone {
				g.lose(w, errMoved)
			}
		}
		return durable(commit)
	}
}

// seal writes what waited for the lock. Inputs do: two gateways that insert the
// same ones in another order would otherwise wait for each other.
func (g *group) seal() (events int, err error) {
	b := new(pgx.Batch)
	var all blobs
	var idle unneeded
	var trail []gatelatch.Event
	for _, w := range g.sets {
		all.inputs, all.results = append(all.inputs, w.inputs...), append(all.results, w.results...)
		idle.inputs, idle.results = append(idle.inputs, w.idle.inputs...), append(idle.results, w.idle.results...)
		idle.sessions = append(idle.sessions, w.idle.sessions...)
		for i := range w.events {
			e := w.events[i] // the set may be sent again
			g.head.Take(&e)
			trail = append(trail, e)
		}
	}
	all.queue(b)
	idle.queue(b)
	queueEvents(b, trail)
	b.Queue(`UPDATE head SET seq=$1, at=$2, link=$3`, g.head.Seq, g.head.At.UnixMicro(), g.head.Link[:])
	return len(trail), g.c.send(b)
}

// queue writes inputs and results, each once.
func (all *blobs) queue(b *pgx.Batch) {
	for k, blobs := range map[*kind][]blob{putInput: all.inputs, putResult: all.results} {
		seen := map[gatelatch.Sum]bool{}
		var rows []write
		for i := range blobs {
			if v := &blobs[i]; !seen[v.sum] {
				seen[v.sum] = true
				rows = append(rows, write{args: []any{v.sum[:], v.bytes}})
			}
		}
		k.queue(b, k.query, rows, unchecked)
	}
}

func unchecked(int, int) {}

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
	rows := make([]write, len(events))
	for i := range events {
		e := &events[i]
		rows[i].args = []any{
			int64(e.Seq), e.At.UnixMicro(), raw(e.Kind), raw(e.By.Kind), raw(e.By.ID), raw(e.By.Name), raw(e.Batch), raw(e.Call),
			[]byte(e.Body), e.Prev[:], e.Link[:],
		}
	}
	putEvent.queue(b, putEvent.query, rows, unchecked)
}

// loadHead finds the end of the trail and checks its last link.
func (s *Store) loadHead(ctx context.Context) error {
	return s.View(ctx, func(v gatelatch.Reader) error {
		r := v.(*reader) //nolint:errcheck // it is this package's own
		if err := r.c.start(); err != nil {
			return err
		}
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

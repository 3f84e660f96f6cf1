package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
)

// head is the end of the trail.
type head struct {
	seq  gatelatch.Seq
	link gatelatch.Sum
}

// tx writes within the writer's transaction.
type tx struct {
	reader
	head    head
	touched []string // batches
	saved   []saved
	changed bool
	broken  error // a statement failed: SQLite may have left the transaction
}

// saved is what to tell an aggregate once the commit is certain.
type saved struct {
	batch   *gatelatch.Batch
	events  int
	version int64
}

var _ gatelatch.Tx = (*tx)(nil)

// run writes and expects one row: none means that somebody else was there.
func (t *tx) run(query string, args ...any) error {
	n, err := t.put(query, args...)
	if err == nil && n == 0 {
		return gatelatch.ErrStale
	}
	return err
}

// put writes any number of rows.
func (t *tx) put(query string, args ...any) (int64, error) {
	n, err := t.c.exec(query, args...)
	if err != nil {
		t.broken = err
		return 0, err
	}
	t.changed = t.changed || n > 0
	return n, nil
}

func encode(v any) (raw []byte, sum []byte, err error) {
	raw, err = json.Marshal(v)
	h := gatelatch.SumOf(raw)
	return raw, h[:], err
}

// SaveBatch implements gatelatch.Tx.
func (t *tx) SaveBatch(b *gatelatch.Batch) error {
	events := b.Events()
	if len(events) == 0 {
		return nil
	}
	raw, sum, err := encode(b)
	if err != nil {
		return err
	}
	opened := b.Opened != nil
	if b.Version == 0 {
		var pair any
		if b.Pair != (gatelatch.Sum{}) {
			pair = b.Pair[:]
		}
		err = t.run(`INSERT INTO batch (id, version, agent, session, message, pair, claimed, opened, created, body, sum) VALUES (?,1,?,?,?,?,?,?,?,?,?)
			ON CONFLICT DO NOTHING`, b.ID, b.Agent, b.Session, b.Message, pair, b.Claimed, opened, b.Created.UnixMicro(), raw, sum)
	} else {
		err = t.run(`UPDATE batch SET version=version+1, claimed=?, opened=?, body=?, sum=? WHERE id=? AND version=?`, b.Claimed, opened, raw, sum, b.ID, b.Version)
	}
	if err != nil {
		return fmt.Errorf("batch %s: %w", b.ID, err)
	}
	for i, c := range b.Calls {
		if err := t.saveCall(b, i, c); err != nil {
			return fmt.Errorf("call %s: %w", c.ID, err)
		}
	}
	for _, e := range events {
		if err := t.Record(e); err != nil {
			return err
		}
	}
	t.touched = append(t.touched, b.ID)
	t.saved = append(t.saved, saved{b, len(events), b.Version + 1})
	return nil
}

func (t *tx) saveCall(b *gatelatch.Batch, pos int, c *gatelatch.Call) error {
	var settled, deadline any
	if c.Decided != nil {
		settled = c.Decided.At.UnixMicro()
	}
	if !c.Deadline.IsZero() {
		deadline = c.Deadline.UnixMicro()
	}
	if b.Version > 0 {
		return t.run(`UPDATE call SET state=?, settled=?, deadline=? WHERE id=?`, string(c.State), settled, deadline, c.ID)
	}
	if _, err := t.put(`INSERT INTO input (hash, bytes) VALUES (?,?) ON CONFLICT DO NOTHING`, c.InputSum[:], c.Input); err != nil {
		return err
	}
	return t.run(`INSERT INTO call (id, batch, pos, agent, session, ref, tool, state, created, settled, deadline) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		c.ID, b.ID, pos, b.Agent, b.Session, c.Ref, c.Tool, string(c.State), b.Created.UnixMicro(), settled, deadline)
}

// SaveSession implements gatelatch.Tx.
func (t *tx) SaveSession(s *gatelatch.Session) error {
	raw, sum, err := encode(s)
	if err != nil {
		return err
	}
	if s.Version == 0 {
		return t.run(`INSERT INTO session (agent, id, version, body, sum) VALUES (?,?,1,?,?) ON CONFLICT DO NOTHING`, s.Agent, s.ID, raw, sum)
	}
	return t.run(`UPDATE session SET version=version+1, body=?, sum=? WHERE agent=? AND id=? AND version=?`, raw, sum, s.Agent, s.ID, s.Version)
}

// SaveKey implements gatelatch.Tx.
func (t *tx) SaveKey(k *gatelatch.Key) error {
	raw, sum, err := encode(k)
	if err != nil {
		return err
	}
	if k.Version == 0 {
		return t.run(`INSERT INTO key (id, version, hash, body, sum) VALUES (?,1,?,?,?) ON CONFLICT DO NOTHING`, k.ID, k.Hash[:], raw, sum)
	}
	return t.run(`UPDATE key SET version=version+1, hash=?, body=?, sum=? WHERE id=? AND version=?`, k.Hash[:], raw, sum, k.ID, k.Version)
}

// SavePause implements gatelatch.Tx.
func (t *tx) SavePause(p gatelatch.Pause) error {
	raw, sum, err := encode(p)
	if err != nil {
		return err
	}
	return t.run(`INSERT INTO pause (one, body, sum) VALUES (1,?,?) ON CONFLICT (one) DO UPDATE SET body=excluded.body, sum=excluded.sum`, raw, sum)
}

// Record implements gatelatch.Tx.
func (t *tx) Record(e gatelatch.Event) error {
	if e.Body == nil {
		e.Body = []byte{}
	}
	e.At = e.At.UTC().Truncate(time.Microsecond)
	e.Seq, e.Prev = t.head.seq+1, t.head.link
	e.Link = audit.Link(e)
	err := t.run(`INSERT INTO event (seq, at, kind, by_kind, by_id, by_name, batch, call, body, prev, link) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		e.Seq, e.At.UnixMicro(), string(e.Kind), string(e.By.Kind), e.By.ID, e.By.Name, e.Batch, e.Call, []byte(e.Body), e.Prev[:], e.Link[:])
	if err != nil {
		return fmt.Errorf("audit trail: %w", err)
	}
	t.head = head{e.Seq, e.Link}
	return nil
}

// loadHead finds the end of the trail and checks its last link.
func (s *Store) loadHead() error {
	r := &reader{c: s.writes}
	seq, err := r.LastSeq()
	if err != nil || seq == 0 {
		return err
	}
	es, err := r.Events(seq-1, 1)
	if err != nil {
		return err
	}
	if len(es) != 1 || audit.Link(es[0]) != es[0].Link {
		return errors.New("the audit trail is damaged at its end")
	}
	s.head, s.now = head{es[0].Seq, es[0].Link}, es[0].At
	return nil
}

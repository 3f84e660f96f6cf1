package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
)

// tx writes within the writer's transaction. Inputs and events wait for its
// end: two gateways that insert the same inputs in another order would
// otherwise wait for each other.
type tx struct {
	reader
	alone   bool // may wait for rows that another gateway holds
	events  []gatelatch.Event
	touched []string // batches
	saved   []saved
	changed bool
	stale   bool  // a save found another version
	paused  int64 // version of the pause switch that was seen; 0 is none
}

// saved is what to tell an aggregate once the commit is certain.
type saved struct {
	batch   *gatelatch.Batch
	events  int
	version int64
}

var _ gatelatch.Tx = (*tx)(nil)

// errMoved means that the pause switch was turned by another gateway after
// this transaction looked at it: everything in it has to look again.
var errMoved = errors.New("the pause switch was turned meanwhile")

// run writes and expects a count of one: none means that somebody else was there.
func (t *tx) run(query string, args ...any) error {
	var n int
	if err := t.c.row(query, args...).scan(&n); err != nil {
		return err
	}
	if n == 0 {
		t.stale = true
		return gatelatch.ErrStale
	}
	t.changed = true
	return nil
}

// update is run with a row held: "held" selects it with its version. In a group
// a row that another gateway holds is stale at once; waiting for it with rows
// of others in hand could be a deadlock.
func (t *tx) update(held, then string, args ...any) error {
	lock := " FOR NO KEY UPDATE SKIP LOCKED"
	if t.alone {
		lock = " FOR NO KEY UPDATE"
	}
	return t.run(`WITH held AS (`+held+lock+`), `+then, args...)
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
	var err error
	if b.Version == 0 {
		err = t.insertBatch(b)
	} else {
		err = t.updateBatch(b)
	}
	if err != nil {
		return fmt.Errorf("batch %s: %w", b.ID, err)
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

func (t *tx) insertBatch(b *gatelatch.Batch) error {
	body, sum, err := encode(b)
	if err != nil {
		return err
	}
	var pair []byte
	if b.Pair != (gatelatch.Sum{}) {
		pair = b.Pair[:]
	}
	var refs, tools [][]byte
	for _, c := range b.Calls {
		refs, tools = append(refs, raw(c.Ref)), append(tools, raw(c.Tool))
		t.inputs = append(t.inputs, input{c.InputSum, append([]byte{}, c.Input...)})
	}
	cs := columnsOf(b)
	return t.run(`WITH b AS (
			INSERT INTO batch (id, version, agent, session, message, pair, claimed, opened, created, body, sum) VALUES ($1,1,$2,$3,$4,$5,$6,$7,$8,$9,$10)
			ON CONFLICT DO NOTHING RETURNING *
		), c AS (
			INSERT INTO call (id, batch, pos, agent, session, ref, tool, state, created, settled, deadline)
			SELECT v.id, b.id, v.pos, b.agent, b.session, v.ref, v.tool, v.state, b.created, v.settled, v.deadline
			FROM b, unnest($11::bytea[], $12::text[], $13::bigint[], $14::bigint[], $15::bytea[], $16::bytea[])
				WITH ORDINALITY AS v (id, state, settled, deadline, ref, tool, pos)
		) SELECT count(*) FROM b`,
		raw(b.ID), raw(b.Agent), raw(b.Session), raw(b.Message), pair, raw(b.Claimed), b.Opened != nil, b.Created.UnixMicro(), body, sum,
		cs.ids, cs.states, cs.settled, cs.deadlines, refs, tools)
}

func (t *tx) updateBatch(b *gatelatch.Batch) error {
	body, sum, err := encode(b)
	if err != nil {
		return err
	}
	cs := columnsOf(b)
	return t.update(`SELECT id FROM batch WHERE id=$1 AND version=$2`, `b AS (
			UPDATE batch SET version=version+1, claimed=$3, opened=$4, body=$5, sum=$6 FROM held WHERE batch.id=held.id RETURNING batch.id
		), c AS (
			UPDATE call SET state=v.state, settled=v.settled, deadline=v.deadline
			FROM b, unnest($7::bytea[], $8::text[], $9::bigint[], $10::bigint[]) AS v (id, state, settled, deadline)
			WHERE call.id=v.id AND call.batch=b.id
		) SELECT count(*) FROM b`,
		raw(b.ID), b.Version, raw(b.Claimed), b.Opened != nil, body, sum, cs.ids, cs.states, cs.settled, cs.deadlines)
}

// columns are what changes in the rows of a batch's calls.
type columns struct {
	ids                [][]byte
	states             []string
	settled, deadlines []*int64
}

func columnsOf(b *gatelatch.Batch) (cs columns) {
	micros := func(t time.Time) *int64 {
		if t.IsZero() {
			return nil
		}
		return new(t.UnixMicro())
	}
	for _, c := range b.Calls {
		var settled *int64
		if c.Decided != nil {
			settled = new(c.Decided.At.UnixMicro())
		}
		cs.ids = append(cs.ids, raw(c.ID))
		cs.states = append(cs.states, string(c.State))
		cs.settled = append(cs.settled, settled)
		cs.deadlines = append(cs.deadlines, micros(c.Deadline))
	}
	return cs
}

// SaveSession implements gatelatch.Tx.
func (t *tx) SaveSession(s *gatelatch.Session) error {
	body, sum, err := encode(s)
	if err != nil {
		return err
	}
	if s.Version == 0 {
		return t.run(`WITH s AS (INSERT INTO session (agent, id, version, body, sum) VALUES ($1,$2,1,$3,$4) ON CONFLICT DO NOTHING RETURNING 1)
			SELECT count(*) FROM s`, raw(s.Agent), raw(s.ID), body, sum)
	}
	return t.update(`SELECT agent, id FROM session WHERE agent=$1 AND id=$2 AND version=$3`,
		`s AS (UPDATE session SET version=version+1, body=$4, sum=$5 FROM held WHERE session.agent=held.agent AND session.id=held.id RETURNING 1)
		SELECT count(*) FROM s`, raw(s.Agent), raw(s.ID), s.Version, body, sum)
}

// SaveKey implements gatelatch.Tx.
func (t *tx) SaveKey(k *gatelatch.Key) error {
	body, sum, err := encode(k)
	if err != nil {
		return err
	}
	if k.Version == 0 {
		return t.run(`WITH k AS (INSERT INTO key (id, version, hash, body, sum) VALUES ($1,1,$2,$3,$4) ON CONFLICT DO NOTHING RETURNING 1)
			SELECT count(*) FROM k`, raw(k.ID), k.Hash[:], body, sum)
	}
	return t.update(`SELECT id FROM key WHERE id=$1 AND version=$2`,
		`k AS (UPDATE key SET version=version+1, hash=$3, body=$4, sum=$5 FROM held WHERE key.id=held.id RETURNING 1)
		SELECT count(*) FROM k`, raw(k.ID), k.Version, k.Hash[:], body, sum)
}

// SavePause implements gatelatch.Tx.
func (t *tx) SavePause(p gatelatch.Pause) error {
	body, sum, err := encode(p)
	if err != nil {
		return err
	}
	var version int64
	err = t.c.row(`UPDATE pause SET version=version+1, body=$1, sum=$2 RETURNING version`, body, sum).scan(&version)
	if err != nil {
		return err
	}
	t.changed = true
	return t.pauseAt(version, version-1)
}

// Pause implements gatelatch.Reader. What a transaction does by it holds only
// if the switch is as it was when the transaction ends.
func (t *tx) Pause() (gatelatch.Pause, error) {
	p, version, err := t.pause()
	if err == nil {
		err = t.pauseAt(version, version)
	}
	return p, err
}

func (t *tx) pauseAt(version, before int64) error {
	if t.paused != 0 && t.paused != before {
		return t.c.note(errMoved)
	}
	t.paused = version
	return nil
}

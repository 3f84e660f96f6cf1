package postgres

import (
	"fmt"
	"maps"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/jackc/pgx/v5"
)

// SaveBatch implements gatelatch.Tx.
func (t *tx) SaveBatch(b *gatelatch.Batch) error {
	events := b.Events()
	if len(events) == 0 {
		return nil
	}
	if err := t.putBatch(b); err != nil {
		return fmt.Errorf("batch %s: %w", b.ID, err)
	}
	for _, e := range events {
		if err := t.Record(e); err != nil {
			return err
		}
	}
	t.touched = append(t.touched, b.ID)
	t.saved = append(t.saved, storage.Saved{Batch: b, Events: len(events)})
	return nil
}

// putBatch writes a batch with the rows of its calls, in one statement.
func (t *tx) putBatch(b *gatelatch.Batch) error {
	body, sum, err := storage.Encode(b)
	if err != nil {
		return err
	}
	rows := storage.Changed(b)
	if err := t.noteBytes(rows); err != nil {
		return err
	}
	c, cs := storage.ColumnsOf(b), columnsOf(rows)
	args := []any{raw(b.ID), raw(b.Agent), raw(b.Session), c.Pair, raw(b.Claimed), c.Permits, c.Due, c.Over, body, sum,
		cs.ids, cs.pos, cs.refs, cs.tools, cs.states, cs.created, cs.settled, cs.inputs, cs.results}
	if b.Version == 0 {
		return t.run(`WITH b AS (
			INSERT INTO batch (id, version, agent, session, message, pair, claimed, permits, due, over, created, body, sum)
			VALUES ($1,1,$2,$3,$20,$4,$5,$6,$7,$8,$21,$9,$10) ON CONFLICT DO NOTHING RETURNING id
		), c AS (`+putCalls+`) SELECT count(*) FROM b`, append(args, raw(b.Message), b.Created.UnixMicro())...)
	}
	return t.update(`SELECT id FROM batch WHERE id=$1 AND version=$20`, `b AS (
			UPDATE batch SET version=version+1, pair=$4, claimed=$5, permits=$6, due=$7, over=$8, body=$9, sum=$10
			FROM held WHERE batch.id=held.id RETURNING batch.id
		), c AS (`+putCalls+`) SELECT count(*) FROM b`, append(args, b.Version)...)
}

// putCalls writes the calls of a batch b. A ref that another call has fails it,
// and the change runs again, where it finds that one.
const putCalls = `INSERT INTO call (id, batch, pos, agent, session, ref, tool, state, created, settled, input, result)
	SELECT v.id, b.id, v.pos, $2, $3, v.ref, v.tool, v.state, v.created, v.settled, v.input, v.result
	FROM b, unnest($11::bytea[], $12::bigint[], $13::bytea[], $14::bytea[], $15::text[], $16::bigint[], $17::bigint[], $18::bytea[], $19::bytea[])
		AS v (id, pos, ref, tool, state, created, settled, input, result)
	ON CONFLICT (id) DO UPDATE SET state=excluded.state, settled=excluded.settled, input=excluded.input, result=excluded.result`

// columns are the rows of calls, column by column.
type columns struct {
	ids, refs, tools, inputs, results [][]byte
	states                            []string
	pos, created                      []int64
	settled                           []*int64
}

func columnsOf(rows []storage.CallRow) (cs columns) {
	for _, r := range rows {
		cs.ids, cs.refs, cs.tools = append(cs.ids, raw(r.ID)), append(cs.refs, raw(r.Ref)), append(cs.tools, raw(r.Tool))
		cs.states = append(cs.states, string(r.State))
		cs.pos, cs.created = append(cs.pos, int64(r.Pos)), append(cs.created, r.Created)
		cs.settled = append(cs.settled, r.Settled)
		cs.inputs, cs.results = append(cs.inputs, r.InputSum[:]), append(cs.results, r.Result)
	}
	return cs
}

// noteBytes keeps inputs and results for the end.
func (t *tx) noteBytes(rows []storage.CallRow) error {
	var edited [][]byte
	for _, r := range rows {
		if r.NewInput {
			t.inputs = append(t.inputs, blob{r.InputSum, append([]byte{}, r.Input...)})
		}
		if res := r.NewResult(); res != nil {
			t.results = append(t.results, blob{gatelatch.Sum(r.Result), append([]byte{}, res...)})
		}
		if r.Edited {
			edited = append(edited, raw(r.ID))
		}
	}
	if len(edited) == 0 {
		return nil
	}
	return t.c.each(`SELECT input FROM call WHERE id=ANY($1)`, []any{edited}, func(rows pgx.Rows) error {
		var old []byte
		err := rows.Scan(&old)
		t.idle.inputs = append(t.idle.inputs, old)
		return err
	})
}

// rely notes that what is written needs a session to be there at the end. A
// job's copy of the transaction has a set of its own.
func (t *tx) rely(s session) {
	if !t.sessions[s] {
		t.sessions = maps.Clone(t.sessions)
		if t.sessions == nil {
			t.sessions = map[session]bool{}
		}
		t.sessions[s] = true
	}
}

// Forget implements gatelatch.Tx.
func (t *tx) Forget(batchID string) error {
	b := new(gatelatch.Batch)
	if err := body(t.c.row(`SELECT version, body, sum FROM batch WHERE id=$1`, raw(batchID)), &b.Version, b); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	var calls [][]byte
	for _, c := range b.Calls {
		calls = append(calls, raw(c.ID))
		t.idle.inputs = append(t.idle.inputs, c.InputSum[:])
		if c.Outcome != nil {
			t.idle.results = append(t.idle.results, c.Outcome.ResultSum[:])
		}
	}
	t.idle.sessions = append(t.idle.sessions, session{b.Agent, b.Session})
	t.touched = append(t.touched, batchID)
	return t.update(`SELECT id FROM batch WHERE id=$1 AND version=$2`,
		`b AS (DELETE FROM batch USING held WHERE batch.id=held.id RETURNING batch.id),
		c AS (DELETE FROM call USING b WHERE call.batch=b.id AND call.id=ANY($3))
		SELECT count(*) FROM b`, raw(batchID), b.Version, calls)
}

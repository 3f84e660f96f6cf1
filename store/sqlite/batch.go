package sqlite

import (
	"fmt"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/gatelatch/gatelatch/internal/twin"
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
	t.touched = append(t.touched, b.ID)
	t.saved = append(t.saved, storage.Saved{Batch: b, Events: len(events)})
	return nil
}

func (t *tx) putBatch(b *gatelatch.Batch) error {
	held := t.recent.holds(b)
	t.recent.drop(b.ID)
	body, sum, err := storage.Encode(b)
	if err != nil {
		return err
	}
	c := storage.ColumnsOf(b)
	if b.Version == 0 {
		err = t.sure(sound(b, c) && t.recent.names.isNew(b, "message", b.Message), `INSERT INTO batch (id, version, agent, session, message, pair, claimed, permits, due, over, created, body, sum)
			VALUES (?,1,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
			b.ID, b.Agent, b.Session, b.Message, c.Pair, b.Claimed, c.Permits, c.Due, c.Over, b.Created.UnixMicro(), body, sum)
	} else {
		err = t.sure(held && sound(b, c), `UPDATE batch SET version=version+1, pair=?, claimed=?, permits=?, due=?, over=?, body=?, sum=? WHERE id=? AND version=?`,
			c.Pair, b.Claimed, c.Permits, c.Due, c.Over, body, sum, b.ID, b.Version)
	}
	if err != nil {
		return err
	}
	t.torn = t.putRest(b, held)
	return t.torn
}

// sound reports whether the tables will take a batch: what they would refuse
// must be refused before it is durable.
func sound(b *gatelatch.Batch, c storage.Columns) bool {
	return b.ID != "" && (c.Over == nil || c.Due == nil && !c.Permits)
}

func soundCall(r storage.CallRow) bool {
	switch r.State {
	case gatelatch.Pending:
		return r.ID != "" && r.Settled == nil
	case gatelatch.Allowed, gatelatch.Denied, gatelatch.Expired, gatelatch.Withdrawn, gatelatch.Revoked, gatelatch.Lapsed:
		return r.ID != "" && r.Settled != nil
	}
	return false
}

// putRest writes what belongs to a batch whose own row was written.
func (t *tx) putRest(b *gatelatch.Batch, held bool) error {
	for _, r := range storage.Changed(b) {
		if err := t.putCall(b, r, held); err != nil {
			return fmt.Errorf("call %s: %w", r.ID, err)
		}
	}
	if twin.Is == "no_audit" {
		return nil
	}
	t.record(b.Events())
	return nil
}

// putCall writes what is new about a call, and no column that is as it was: an
// index is written whenever a statement names its column. The rows of a batch
// that is held are there.
func (t *tx) putCall(b *gatelatch.Batch, r storage.CallRow, held bool) error {
	if r.NewInput {
		if err := t.putInput(r.InputSum, r.Input); err != nil {
			return err
		}
	}
	if res := r.NewResult(); res != nil {
		if err := t.putResult(gatelatch.Sum(r.Result), res); err != nil {
			return err
		}
	}
	// A ref that another call has is stale: whoever runs again finds that one.
	if r.New {
		input := r.InputSum // the row may be written when the call is another's
		return t.sure(soundCall(r) && (r.Ref == "" || t.recent.names.isNew(b, "ref", r.Ref)), `INSERT INTO call (id, batch, pos, agent, session, ref, tool, state, created, settled, input, result)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
			r.ID, b.ID, r.Pos, b.Agent, b.Session, r.Ref, r.Tool, string(r.State), r.Created, r.Settled, input[:], r.Result)
	}
	if r.Moved {
		if err := t.sure(held && soundCall(r), `UPDATE call SET state=?, settled=? WHERE id=?`, string(r.State), r.Settled, r.ID); err != nil {
			return err
		}
	}
	if r.Result != nil {
		if err := t.sure(held, `UPDATE call SET result=? WHERE id=?`, r.Result, r.ID); err != nil {
			return err
		}
	}
	if r.Edited {
		return t.replaceInput(r)
	}
	return nil
}

func (t *tx) replaceInput(r storage.CallRow) error {
	var old []byte
	if err := t.c.row(`SELECT input FROM call WHERE id=?`, r.ID).scan(&old); err != nil {
		return err
	}
	if err := t.run(`UPDATE call SET input=? WHERE id=?`, r.InputSum[:], r.ID); err != nil {
		return err
	}
	return t.dropInput(old)
}

func (t *tx) putInput(sum gatelatch.Sum, raw []byte) error {
	return t.keep(`INSERT INTO input (hash, bytes) VALUES (?,?) ON CONFLICT DO NOTHING`, sum, raw)
}

func (t *tx) putResult(sum gatelatch.Sum, raw []byte) error {
	return t.keep(`INSERT INTO result (hash, bytes) VALUES (?,?) ON CONFLICT DO NOTHING`, sum, raw)
}

// keep writes bytes by their sum, if they are not there.
func (t *tx) keep(query string, sum gatelatch.Sum, raw []byte) error {
	_, err := t.write(statement{text: query, args: []any{sum[:], notNull(raw)}, maybe: true}, true)
	return err
}

func notNull(b []byte) []byte { return append([]byte{}, b...) }

// dropInput deletes an input that no call needs any more.
func (t *tx) dropInput(hash []byte) error {
	_, err := t.put(`DELETE FROM input WHERE hash=? AND NOT EXISTS (SELECT 1 FROM call WHERE input=?)`, hash, hash)
	return err
}

func (t *tx) dropResult(hash []byte) error {
	_, err := t.put(`DELETE FROM result WHERE hash=? AND NOT EXISTS (SELECT 1 FROM call WHERE result=?)`, hash, hash)
	return err
}

// Forget implements gatelatch.Tx.
func (t *tx) Forget(batchID string) error {
	b := new(gatelatch.Batch)
	if err := body(t.c.row(`SELECT version, body, sum FROM batch WHERE id=?`, batchID), &b.Version, b); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	if err := t.run(`DELETE FROM batch WHERE id=?`, batchID); err != nil {
		return err
	}
	t.recent.drop(batchID)
	t.gone = append(t.gone, batchID)
	delete(t.recent.sessions, [2]string{b.Agent, b.Session})
	t.sessions = append(t.sessions, [2]string{b.Agent, b.Session})
	t.torn = t.forgetRest(b)
	t.touched = append(t.touched, batchID)
	return t.torn
}

func (t *tx) forgetRest(b *gatelatch.Batch) error {
	for _, c := range b.Calls {
		if err := t.run(`DELETE FROM call WHERE id=?`, c.ID); err != nil {
			return err
		}
		if err := t.dropInput(c.InputSum[:]); err != nil {
			return err
		}
		if c.Outcome != nil {
			if err := t.dropResult(c.Outcome.ResultSum[:]); err != nil {
				return err
			}
		}
	}
	_, err := t.put(`DELETE FROM session WHERE agent=? AND id=? AND NOT EXISTS (SELECT 1 FROM batch WHERE agent=? AND session=?)`,
		b.Agent, b.Session, b.Agent, b.Session)
	return err
}

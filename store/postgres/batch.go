package postgres

import (
	"fmt"

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

// putBatch notes a batch with the rows of its calls.
func (t *tx) putBatch(b *gatelatch.Batch) error {
	if t.own("batch", b.ID) != nil {
		if err := t.settle("batch"); err != nil {
			return err
		}
	}
	rows := storage.Changed(b)
	if err := t.noteBytes(rows); err != nil {
		return err
	}
	c := storage.ColumnsOf(b)
	err := t.save(kept{
		put: putBatch, set: setBatch, id: b.ID, keys: []any{raw(b.ID)}, version: b.Version, value: b,
		more: []any{c.Pair, raw(b.Claimed), c.Permits, c.Due, c.Over},
		new:  []any{raw(b.Agent), raw(b.Session), raw(b.Message), b.Created.UnixMicro()},
	})
	if err != nil {
		return err
	}
	for i := range rows {
		t.putCall(b, &rows[i])
	}
	return nil
}

func (t *tx) putCall(b *gatelatch.Batch, r *storage.CallRow) {
	w := write{kind: setCall, id: r.ID, args: []any{raw(r.ID), string(r.State), r.Settled, r.InputSum[:], r.Result}}
	if r.New {
		w.kind = putCall
		w.args = append(w.args, raw(b.ID), int64(r.Pos), raw(b.Agent), raw(b.Session), raw(r.Ref), raw(r.Tool), r.Created)
	}
	t.put(w)
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

// Forget implements gatelatch.Tx.
func (t *tx) Forget(batchID string) error {
	if t.own("batch", batchID) != nil {
		if err := t.settle("batch"); err != nil {
			return err
		}
	}
	b := new(gatelatch.Batch)
	if err := body(t.c.row(`SELECT version, body, sum FROM batch WHERE id=$1`, raw(batchID)), &b.Version, b); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	for _, c := range b.Calls {
		t.put(write{kind: delCall, id: c.ID, args: []any{raw(c.ID), raw(b.ID)}})
		t.idle.inputs = append(t.idle.inputs, c.InputSum[:])
		if c.Outcome != nil {
			t.idle.results = append(t.idle.results, c.Outcome.ResultSum[:])
		}
	}
	t.idle.sessions = append(t.idle.sessions, session{b.Agent, b.Session})
	t.touched = append(t.touched, batchID)
	t.put(write{kind: delBatch, id: b.ID, args: []any{raw(b.ID), b.Version}})
	return nil
}

package memory

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// tx writes in place and knows how to undo it.
type tx struct {
	reader
	undo    []func()
	saved   []storage.Saved
	touched []string
	torn    error // a save failed, perhaps half way: nothing may be committed
}

var _ gatelatch.Tx = (*tx)(nil)

// back undoes everything.
func (t *tx) back() {
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
}

// stale says that somebody else was there first.
func (t *tx) stale(what string) error {
	t.torn = fmt.Errorf("%s: %w", what, gatelatch.ErrStale)
	return t.torn
}

func put[K comparable, V any](t *tx, m map[K]V, k K, v V) {
	old, had := m[k]
	m[k] = v
	t.undo = append(t.undo, func() {
		if m[k] = old; !had {
			delete(m, k)
		}
	})
}

func drop[K comparable, V any](t *tx, m map[K]V, k K) {
	if old, had := m[k]; had {
		delete(m, k)
		t.undo = append(t.undo, func() { m[k] = old })
	}
}

// claim puts a name that belongs to one owner only.
func claim[K comparable](t *tx, m map[K]string, k K, owner string) error {
	if old, taken := m[k]; taken && old != owner {
		return t.stale(owner)
	}
	put(t, m, k, owner)
	return nil
}

// SaveBatch implements gatelatch.Tx.
func (t *tx) SaveBatch(b *gatelatch.Batch) error {
	events := b.Events()
	if len(events) == 0 {
		return nil
	}
	if old, known := t.batches[b.ID]; known != (b.Version > 0) || known && old.batch.Version != b.Version {
		return t.stale(b.ID)
	}
	if err := claim(t, t.messages, [3]string{b.Agent, b.Session, b.Message}, b.ID); err != nil {
		return err
	}
	created := slices.Clip(t.batches[b.ID].created)
	for _, r := range storage.Changed(b) {
		if err := t.saveCall(b, &r); err != nil {
			return err
		}
		if r.Pos == len(created) {
			created = append(created, time.UnixMicro(r.Created))
		}
	}
	kept := clone(b)
	kept.Saved(len(events), b.Version+1)
	put(t, t.batches, b.ID, row{kept, b.Index(), created})
	for _, e := range events {
		if err := t.Record(e); err != nil {
			return err
		}
	}
	t.saved = append(t.saved, storage.Saved{Batch: b, Events: len(events)})
	t.touched = append(t.touched, b.ID)
	return nil
}

func (t *tx) saveCall(b *gatelatch.Batch, r *storage.CallRow) error {
	if err := claim(t, t.calls, r.ID, b.ID); err != nil {
		return err
	}
	if r.Ref != "" {
		if err := claim(t, t.refs, [3]string{b.Agent, b.Session, r.Ref}, b.ID); err != nil {
			return err
		}
	}
	t.keep(r.InputSum, r.Input)
	if result := r.NewResult(); result != nil {
		t.keep(r.Outcome.ResultSum, result)
	}
	return nil
}

func (t *tx) keep(sum gatelatch.Sum, raw []byte) {
	if _, known := t.bytes[sum]; !known {
		put(t, t.bytes, sum, append([]byte{}, raw...))
	}
}

// save puts a value whose version is one behind the kept one's.
func save[K comparable, V any](t *tx, m map[K]V, k K, v V, version func(*V) *int64) error {
	old, known := m[k]
	if n := *version(&v); known != (n > 0) || known && *version(&old) != n {
		return t.stale(fmt.Sprint(k))
	}
	*version(&v)++
	put(t, m, k, v)
	return nil
}

// SaveSession implements gatelatch.Tx.
func (t *tx) SaveSession(s *gatelatch.Session) error {
	return save(t, t.sessions, [2]string{s.Agent, s.ID}, *cloneSession(*s), func(s *gatelatch.Session) *int64 { return &s.Version })
}

// SaveGrant implements gatelatch.Tx.
func (t *tx) SaveGrant(g *gatelatch.Grant) error {
	return save(t, t.grants, g.ID, *cloneGrant(*g), func(g *gatelatch.Grant) *int64 { return &g.Version })
}

// SaveWork implements gatelatch.Tx.
func (t *tx) SaveWork(w *gatelatch.Work) error {
	err := save(t, t.works, w.ID, *w, func(w *gatelatch.Work) *int64 { return &w.Version })
	if err == nil && w.Done {
		drop(t, t.works, w.ID)
	}
	return err
}

// SaveKey implements gatelatch.Tx.
func (t *tx) SaveKey(k *gatelatch.Key) error {
	if err := claim(t, t.hashes, k.Hash, k.ID); err != nil {
		return err
	}
	if old, known := t.keys[k.ID]; known && old.Hash != k.Hash {
		drop(t, t.hashes, old.Hash)
	}
	return save(t, t.keys, k.ID, *cloneKey(*k), func(k *gatelatch.Key) *int64 { return &k.Version })
}

// AddRevision implements gatelatch.Tx.
func (t *tx) AddRevision(r *gatelatch.Revision) error {
	if _, known := t.policies[r.Number]; known {
		return t.stale(fmt.Sprint("revision ", r.Number))
	}
	put(t, t.policies, r.Number, *r)
	return nil
}

// SaveControl implements gatelatch.Tx.
func (t *tx) SaveControl(c gatelatch.Control) error {
	old := t.control
	if old.Version != c.Version {
		return t.stale("control")
	}
	c.Version++
	t.control = *cloneControl(c)
	t.undo = append(t.undo, func() { t.control = old })
	return nil
}

// Forget implements gatelatch.Tx.
func (t *tx) Forget(batchID string) error {
	b, err := t.Batch(batchID)
	if err != nil {
		return err
	}
	drop(t, t.batches, b.ID)
	drop(t, t.messages, [3]string{b.Agent, b.Session, b.Message})
	used, session := map[gatelatch.Sum]bool{}, false
	for _, r := range t.batches {
		session = session || r.batch.Agent == b.Agent && r.batch.Session == b.Session
		for _, sum := range sums(r.batch) {
			used[sum] = true
		}
	}
	for _, c := range b.Calls {
		drop(t, t.calls, c.ID)
		drop(t, t.refs, [3]string{b.Agent, b.Session, c.Ref})
	}
	for _, sum := range sums(b) {
		if !used[sum] {
			drop(t, t.bytes, sum)
		}
	}
	if !session {
		drop(t, t.sessions, [2]string{b.Agent, b.Session})
	}
	t.touched = append(t.touched, b.ID)
	return nil
}

// sums returns what a batch has among the bytes.
func sums(b *gatelatch.Batch) (out []gatelatch.Sum) {
	for _, c := range b.Calls {
		out = append(out, c.InputSum)
		if c.Outcome != nil {
			out = append(out, c.Outcome.ResultSum)
		}
	}
	return out
}

// Record implements gatelatch.Tx.
func (t *tx) Record(e gatelatch.Event) error {
	e.Body = slices.Clone(e.Body)
	before := t.head
	t.head.Take(&e)
	t.events = append(t.events, e)
	t.undo = append(t.undo, func() { t.events, t.head = t.events[:len(t.events)-1], before })
	return nil
}

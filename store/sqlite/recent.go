package sqlite

import (
	"slices"

	"github.com/gatelatch/gatelatch"
)

// recent holds what the writer wrote or read last, so that deciding soon after
// proposing reads nothing. It is the writer's alone, and true because nobody
// else writes: whatever a transaction saves leaves it at once, and comes back
// when it is committed.
type recent struct {
	young, old shelf
	sessions   map[[2]string]gatelatch.Session
	names      names
}

// shelf holds batches, and finds them by call too.
type shelf struct {
	batches map[string]*gatelatch.Batch
	calls   map[string]string
	bytes   int // of inputs
}

const (
	mostBatches  = 512 // of a shelf
	mostBytes    = 8 << 20
	largeBatch   = 256 << 10 // not worth it
	mostSessions = 256
)

func newShelf() shelf {
	return shelf{batches: map[string]*gatelatch.Batch{}, calls: map[string]string{}}
}

func newRecent() *recent {
	return &recent{young: newShelf(), old: newShelf(), sessions: map[[2]string]gatelatch.Session{}, names: newNames()}
}

func (r *recent) keep(b *gatelatch.Batch) {
	size := 0
	for _, c := range b.Calls {
		size += len(c.Input)
	}
	if size > largeBatch {
		return
	}
	if r.young.bytes += size; len(r.young.batches) >= mostBatches || r.young.bytes > mostBytes {
		r.young, r.old = newShelf(), r.young
		r.young.bytes = size
	}
	r.young.batches[b.ID] = copyOf(b)
	for _, c := range b.Calls {
		r.young.calls[c.ID] = b.ID
	}
}

// holds reports whether the store's batch is what b was made of.
func (r *recent) holds(b *gatelatch.Batch) bool {
	for _, s := range []shelf{r.young, r.old} {
		if have := s.batches[b.ID]; have != nil {
			return have.Version == b.Version
		}
	}
	return false
}

func (r *recent) drop(id string) {
	delete(r.young.batches, id)
	delete(r.old.batches, id)
}

// batch returns a batch that the caller may change, or nil.
func (r *recent) batch(id string) *gatelatch.Batch {
	for _, s := range []shelf{r.young, r.old} {
		if b := s.batches[id]; b != nil {
			return copyOf(b)
		}
	}
	return nil
}

func (r *recent) batchOfCall(callID string) *gatelatch.Batch {
	for _, s := range []shelf{r.young, r.old} {
		if id, ok := s.calls[callID]; ok {
			return r.batch(id)
		}
	}
	return nil
}

// copyOf copies what transitions change in place; the rest they replace.
func copyOf(b *gatelatch.Batch) *gatelatch.Batch {
	out := *b
	if b.Opened != nil {
		opened := *b.Opened
		out.Opened = &opened
	}
	out.Calls = make([]*gatelatch.Call, len(b.Calls))
	for i, c := range b.Calls {
		call := *c
		if o := c.Outcome; o != nil && o.Result != nil {
			call.Outcome = &gatelatch.Outcome{Kind: o.Kind, At: o.At, ResultSum: o.ResultSum} // as it is loaded
		}
		out.Calls[i] = &call
	}
	return &out
}

// Batch implements gatelatch.Reader.
func (t *tx) Batch(id string) (*gatelatch.Batch, error) {
	if b := t.recent.batch(id); b != nil {
		return b, nil
	}
	return t.reader.Batch(id)
}

// BatchOfCall implements gatelatch.Reader.
func (t *tx) BatchOfCall(callID string) (*gatelatch.Batch, error) {
	if b := t.recent.batchOfCall(callID); b != nil {
		return b, nil
	}
	return t.reader.BatchOfCall(callID)
}

// Session implements gatelatch.Reader.
func (t *tx) Session(agent, id string) (*gatelatch.Session, error) {
	key := [2]string{agent, id}
	if s, ok := t.recent.sessions[key]; ok {
		return &s, nil
	}
	s, err := t.reader.Session(agent, id)
	if err == nil && !slices.Contains(t.sessions, key) {
		if len(t.recent.sessions) >= mostSessions {
			clear(t.recent.sessions)
		}
		t.recent.sessions[key] = *s
	}
	return s, err
}

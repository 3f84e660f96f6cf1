package gatelatch

import (
	"context"
	"time"
)

// waiters knows of each batch that somebody waited for since when nobody does.
// It is a help for people, so it is forgotten with the process.
type waiters struct {
	since map[string]time.Time
}

func (w *waiters) came(batchID string) { delete(w.since, batchID) }

func (w *waiters) went(batchID string) {
	if w.since == nil {
		w.since = map[string]time.Time{}
	}
	w.since[batchID] = time.Now()
}

// expect counts on somebody to wait for a batch: its host said that it would.
func (h *hub) expect(batchID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.batches[batchID]) == 0 {
		h.waiters.went(batchID)
	}
}

// leftFor returns the batches that nobody has waited for that long, once each,
// and how long until the next.
func (h *hub) leftFor(grace time.Duration) (ids []string, next time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next = time.Hour
	for id, since := range h.waiters.since {
		if rest := grace - time.Since(since); rest > 0 {
			next = min(next, rest)
			continue
		}
		delete(h.waiters.since, id)
		ids = append(ids, id)
	}
	return ids, next
}

// leftDue notes what nobody waits for any more, though nobody said so: the
// agent was killed, or stopped between two of its hooks.
func (g *Gate) leftDue(ctx context.Context) (time.Duration, error) {
	ids, next := g.hub.leftFor(g.Grace)
	if g.Grace == 0 {
		return next, nil
	}
	for _, id := range ids {
		var b *Batch
		err := g.store.View(ctx, func(r Reader) (err error) { b, err = r.Batch(id); return err })
		if err != nil || b.Ready() || b.Parked != nil || !b.Left.IsZero() {
			continue // it is gone, or is not missed
		}
		if err := g.change(ctx, id, func(tx Tx, b *Batch) error { b.leave(tx.Now()); return nil }); err != nil {
			return next, err
		}
	}
	return next, nil
}

// leave notes that nobody waits for the answer. Whoever comes back gets it.
func (b *Batch) leave(at time.Time) {
	if b.Ready() || b.Parked != nil || !b.Left.IsZero() {
		return
	}
	b.Left = at
	b.tellWaiting(CallLeft, Actor{Kind: GatewayActor}, at)
}

// rejoin notes that somebody waits again.
func (b *Batch) rejoin(by Actor, at time.Time) {
	if !b.Left.IsZero() {
		b.Left = time.Time{}
		b.tellWaiting(CallRejoined, by, at)
	}
}

func (b *Batch) tellWaiting(kind EventKind, by Actor, at time.Time) {
	for _, c := range b.Calls {
		if c.State == Pending {
			b.record(kind, c.ID, by, at, struct{}{})
		}
	}
}

// rejoin notes that this agent waits for a batch that nobody seemed to.
func (s *Seat) rejoin(ctx context.Context, b *Batch) error {
	if b.Left.IsZero() || b.Ready() {
		return nil
	}
	_, err := s.update(ctx, b.ID, func(tx Tx, b *Batch) error {
		b.rejoin(s.who, tx.Now())
		return nil
	})
	return err
}

package gatelatch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// hub wakes whoever waits for a batch or for the trail to grow. A waiter is
// woken only by a change of its own batch: with thousands of them a broadcast
// would keep all busy.
type hub struct {
	sooner chan struct{} // a deadline may have come nearer
	looks  atomic.Int64  // when the clock looks by itself, in microseconds of the store's time

	mu      sync.Mutex
	batches map[string]map[*func()]struct{}
	waiters waiters
	trail   map[chan struct{}]struct{}
}

func newHub() *hub {
	return &hub{sooner: make(chan struct{}, 1), batches: map[string]map[*func()]struct{}{}, trail: map[chan struct{}]struct{}{}}
}

func (h *hub) changed(c Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range c.Batches {
		for ring := range h.batches[id] {
			(*ring)()
		}
	}
	for ch := range h.trail {
		poke(ch)
	}
}

// due has the clock look sooner if it would be too late for t.
func (h *hub) due(t time.Time) {
	if !t.IsZero() && t.UnixMicro() < h.looks.Load() {
		poke(h.sooner)
	}
}

func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// batch returns a channel that receives after the batch changed, until ctx ends.
func (h *hub) batch(ctx context.Context, id string) <-chan struct{} {
	ch := make(chan struct{}, 1)
	context.AfterFunc(ctx, h.watch(id, func() { poke(ch) }))
	return ch
}

// watch calls ring after the batch changed, until stop. ring must not wait.
func (h *hub) watch(id string, ring func()) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.batches[id] == nil {
		h.batches[id] = map[*func()]struct{}{}
	}
	h.batches[id][&ring] = struct{}{}
	h.waiters.came(id)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.batches[id], &ring)
		if len(h.batches[id]) == 0 {
			delete(h.batches, id)
			h.waiters.went(id)
		}
	}
}

// grown returns a channel that receives after the trail grew, until ctx ends.
func (h *hub) grown(ctx context.Context) <-chan struct{} {
	ch := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trail[ch] = struct{}{}
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.trail, ch)
	})
	return ch
}

package gatelatch

import (
	"context"
	"sync/atomic"
	"time"
)

// rush bounds the proposals under way. Whatever people do has to wait behind no
// more than those.
type rush struct {
	slots    chan struct{}
	queue    int64
	queued   atomic.Int64
	patience time.Duration
}

// LimitAsks lets so many proposals be judged and saved at once, and queue more
// wait up to patience for their turn. Any other is ErrBusy: it was not looked
// at and may be asked again. Call it before the gate is used.
func (g *Gate) LimitAsks(atOnce, queue int, patience time.Duration) {
	g.rush = &rush{slots: make(chan struct{}, atOnce), queue: int64(queue), patience: patience}
}

// Busy reports whether a proposal would be refused for what is under way.
func (g *Gate) Busy() bool {
	return g.rush != nil && g.rush.queued.Load() >= g.rush.queue && len(g.rush.slots) == cap(g.rush.slots)
}

// enter takes a slot, which leave gives back.
func (r *rush) enter(ctx context.Context) error {
	if r == nil {
		return nil
	}
	select {
	case r.slots <- struct{}{}:
		return nil
	default:
	}
	defer r.queued.Add(-1)
	if r.queued.Add(1) > r.queue {
		return ErrBusy
	}
	t := time.NewTimer(r.patience)
	defer t.Stop()
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-t.C:
		return ErrBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *rush) leave() {
	if r != nil {
		<-r.slots
	}
}

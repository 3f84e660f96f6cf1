package gatelatch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// rush bounds the proposals under way. Whatever people do has to wait behind no
// more than those, and no agent has all of them.
type rush struct {
	room
	patience time.Duration

	mu     sync.Mutex
	agents map[string]*room
}

// room is for so many at once, and so many who wait.
type room struct {
	slots  chan struct{}
	queue  int64
	queued atomic.Int64
}

func (r *room) full() bool {
	return r.queued.Load() >= r.queue && len(r.slots) == cap(r.slots)
}

// LimitAsks lets so many proposals be judged and saved at once, and queue more
// wait up to patience for their turn; one agent has three quarters of both. Any
// other is ErrBusy: it was not looked at and may be asked again. Call it before
// the gate is used.
func (g *Gate) LimitAsks(atOnce, queue int, patience time.Duration) {
	g.rush = &rush{room: room{slots: make(chan struct{}, atOnce), queue: int64(queue)}, patience: patience, agents: map[string]*room{}}
}

// Busy reports whether a proposal would be refused for what is under way.
func (g *Gate) Busy() bool { return g.rush != nil && g.rush.full() }

// of is the room of one agent.
func (r *rush) of(agent string) *room {
	share := func(n int) int { return n - n/4 } //nolint:mnd // a quarter is for others
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.agents[agent]
	if a == nil {
		a = &room{slots: make(chan struct{}, share(cap(r.slots))), queue: int64(share(int(r.queue)))}
		r.agents[agent] = a
	}
	return a
}

// line takes a place in the queue, if there is one.
func (r *room) line() bool {
	if r.queued.Add(1) <= r.queue {
		return true
	}
	r.queued.Add(-1)
	return false
}

// enter takes a slot, which leave gives back.
func (r *rush) enter(ctx context.Context, agent string) (leave func(), err error) {
	if r == nil {
		return func() {}, nil
	}
	a := r.of(agent)
	leave = func() { <-r.slots; <-a.slots }
	if a.try() {
		if r.try() {
			return leave, nil
		}
		<-a.slots
	}
	if !a.line() { // who is refused in his own room takes none of the others'
		return nil, ErrBusy
	}
	defer a.queued.Add(-1)
	if !r.line() {
		return nil, ErrBusy
	}
	defer r.queued.Add(-1)
	t := time.NewTimer(r.patience)
	defer t.Stop()
	if err := a.wait(ctx, t.C); err != nil {
		return nil, err
	}
	if err := r.wait(ctx, t.C); err != nil {
		<-a.slots
		return nil, err
	}
	return leave, nil
}

func (r *room) try() bool {
	select {
	case r.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func (r *room) wait(ctx context.Context, over <-chan time.Time) error {
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-over:
		return ErrBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

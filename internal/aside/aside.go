// Package aside runs what nobody waits for.
package aside

import (
	"context"
	"errors"
	"log/slog"
	"sync"
)

// Group runs functions beside the rest, a bounded number at once. What one
// returns is logged and changes nothing.
type Group struct {
	most int
	log  *slog.Logger
	ctx  context.Context // of all that run, until Wait gives up
	stop context.CancelFunc

	mu      sync.Mutex
	running int
	closed  bool
	idle    chan struct{} // closed when the group is, and nothing runs
}

// New returns a group of at most most at once. log may be nil.
func New(most int, log *slog.Logger) *Group {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Group{most: most, log: log, ctx: ctx, stop: stop, idle: make(chan struct{})}
}

// Go runs fn, or only logs that there was no room: nobody waits for a place
// either.
func (g *Group) Go(name string, fn func(context.Context) error) {
	if !g.begin() {
		g.log.Warn("too much runs at once, or everything stops: left out", "what", name)
		return
	}
	go func() {
		defer g.end()
		if err := try(g.ctx, fn); err != nil {
			g.log.Warn("failed, and nothing with it", "what", name, "err", err)
		}
	}()
}

func (g *Group) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.running == g.most {
		return false
	}
	g.running++
	return true
}

func (g *Group) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running--; g.closed && g.running == 0 {
		close(g.idle)
	}
}

var errPanic = errors.New("it panicked")

// try keeps a panic's text out of the log: it may quote anything.
func try(ctx context.Context, fn func(context.Context) error) (err error) {
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	return fn(ctx)
}

// Wait waits for what runs; nothing starts any more. When ctx ends, the rest is
// told to stop.
func (g *Group) Wait(ctx context.Context) {
	g.close()
	defer g.stop()
	select {
	case <-g.idle:
	case <-ctx.Done():
	}
}

func (g *Group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && g.running == 0 {
		close(g.idle)
	}
	g.closed = true
}

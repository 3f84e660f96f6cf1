package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// drain is how the gateway stops: no more asks, whoever waits is told to come
// again, and what is under way is finished.
type drain struct {
	ctx  context.Context //nolint:containedctx // ends when draining begins
	stop context.CancelFunc
	mu   *sync.RWMutex
	told *sync.WaitGroup // who waits and was not told yet
	n    *atomic.Int64   // how many those are
}

func newDrain() drain {
	ctx, stop := context.WithCancel(context.Background())
	return drain{ctx, stop, new(sync.RWMutex), new(sync.WaitGroup), new(atomic.Int64)}
}

func (d *drain) begun() bool { return d.ctx.Err() != nil }

// join adds one who waits, unless nobody may any more.
func (d *drain) join() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.begun() {
		return false
	}
	d.told.Add(1)
	d.n.Add(1)
	return true
}

func (d *drain) leave() {
	d.n.Add(-1)
	d.told.Done()
}

type baseKey struct{}

// baseContext gives requests ctx, and what outlives them one that ends when
// draining begins.
func (d *drain) baseContext(ctx context.Context) func(net.Listener) context.Context {
	base, stop := context.WithCancel(ctx)
	context.AfterFunc(d.ctx, stop)
	return func(net.Listener) context.Context { return context.WithValue(ctx, baseKey{}, base) }
}

// Drain lets nobody begin to wait or to ask any more, and returns when all who
// wait were told to come again, or with ctx. Decisions and reports still get in.
func (s *Server) Drain(ctx context.Context) error {
	s.drain.mu.Lock()
	s.drain.stop()
	s.drain.mu.Unlock()
	return over(ctx, s.drain.told)
}

// over waits for all of a group, or for ctx.
func over(ctx context.Context, all *sync.WaitGroup) error {
	gone := make(chan struct{})
	go func() {
		all.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begins are the routes that begin something; asks are those of them that cost
// a judgement and a commit.
var (
	begins = map[string]bool{"Propose": true, "Extend": true, "Await": true, "FollowMode": true, "FollowInterrupts": true, "Events": true}
	asks   = map[string]bool{"Propose": true, "Extend": true}
)

// shut refuses what the gateway does not begin now, before it costs anything:
// asks make way for decisions.
func (s *Server) shut(w http.ResponseWriter, r *http.Request, rt api.Route) bool {
	switch {
	case begins[rt.Name] && s.drain.begun():
		stopping(w)
	case asks[rt.Name] && s.opt.Gate.Busy():
		w.Header().Set("Retry-After", "1")
		p := api.FromError(gatelatch.ErrBusy)
		write(w, p.Status, api.ProblemType, p) // who keeps the connection costs less
		guestOf(r).sentAway()
	default:
		return false
	}
	return true
}

func stopping(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, api.CodeUnavailable, "the gateway is stopping", "ask again")
}

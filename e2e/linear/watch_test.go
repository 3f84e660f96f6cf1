package linear

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// watchers follow the trail as pages do, from one gateway to the next.
type watchers struct {
	*lab
	wg   sync.WaitGroup
	ctx  context.Context
	stop context.CancelFunc
	last atomic.Int64 // the number of the last event, when all is over

	mu   sync.Mutex
	seen map[int64]string // what the first to see an event was told of it
}

func (l *lab) watch() *watchers {
	w := &watchers{lab: l, seen: map[int64]string{}}
	w.ctx, w.stop = context.WithCancel(context.Background())
	l.t.Cleanup(func() { w.stop(); w.wg.Wait() })
	for person := range nodes {
		w.wg.Go(func() { w.follow(person) })
	}
	return w
}

// follow comes again whenever a stream breaks, and from time to time without a
// reason: that of a gateway that is stopped never breaks.
func (w *watchers) follow(person int) {
	var after int64
	more := func() bool { last := w.last.Load(); return last == 0 || after < last }
	for w.ctx.Err() == nil && more() {
		ctx, stop := context.WithTimeout(w.ctx, 2*lease)
		_ = w.asks[person][w.anywhere()].Events(ctx, after, func(e api.Event) bool {
			if e.Seq != after+1 {
				w.t.Errorf("a watcher was told of event %d after %d", e.Seq, after)
			}
			after = e.Seq
			w.note(e)
			return more()
		})
		stop()
		w.wait(breath)
	}
	if more() {
		w.t.Errorf("a watcher saw %d events of %d", after, w.last.Load())
	}
}

func (w *watchers) note(e api.Event) {
	text := e.Kind + e.Batch + e.Call
	w.mu.Lock()
	defer w.mu.Unlock()
	if was, ok := w.seen[e.Seq]; ok && was != text {
		w.t.Errorf("event %d was %s and then %s", e.Seq, was, text)
	}
	w.seen[e.Seq] = text
}

// end waits until everybody has seen everything.
func (w *watchers) end() {
	w.t.Helper()
	w.last.Store(must(w.asks[0][0].Status(w.t.Context()))(w.t).Seq)
	defer time.AfterFunc(patience, w.stop).Stop()
	w.wg.Wait()
	w.t.Logf("%d watchers saw %d events each", nodes, w.last.Load())
}

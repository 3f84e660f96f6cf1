package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/policy/history"
)

const (
	replayMost = 20_000 // settled calls that rules are tried on
	keptTrials = 8
)

// desk does the long work with rules, one piece at a time and beside the
// gateway's own: whoever wants it asks again until it is ready.
type desk struct {
	spawn   func(func())
	mu      sync.Mutex
	suggest *piece[*found]
	trials  map[gatelatch.Sum]*trial
	busy    sync.Mutex // one piece at a time
	pushed  string     // the newest call that browsers were told about
}

// piece is long work with its result.
type piece[T any] struct {
	done   atomic.Int64
	ready  chan struct{}
	at     time.Time
	result T
	err    error
}

// begin starts work that ends with the gateway, not with who asked for it.
func begin[T any](ctx context.Context, d *desk, fn func(context.Context, *piece[T]) (T, error)) *piece[T] {
	p := &piece[T]{ready: make(chan struct{})}
	d.spawn(func() {
		d.busy.Lock()
		defer d.busy.Unlock()
		p.result, p.err = fn(ctx, p)
		p.at = time.Now()
		close(p.ready)
	})
	return p
}

// wait gives quick work the time to be ready at once.
func (p *piece[T]) wait(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, patience/4)
	defer stop()
	select {
	case <-p.ready:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *piece[T]) isReady() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

func (p *piece[T]) state() api.Work { return api.Work{Done: int(p.done.Load())} }

// records gives what is settled, newest first, as rules are tried on it.
func records(ctx context.Context, seat *gatelatch.Seat, seen func(int)) history.Source {
	return func(yield func(history.Record, error) bool) {
		q := gatelatch.Query{Limit: pastPart}
		for n := 0; n < replayMost; {
			page, err := seat.List(ctx, q)
			if err != nil {
				yield(history.Record{}, err)
				return
			}
			for _, l := range page.Calls {
				q.After = l.ID
				if n++; !blocked(l.Verdict) && !yield(record(l), nil) {
					return
				}
			}
			if seen(n); !page.More {
				return
			}
		}
	}
}

// blocked reports whether a hook or a pause settled the call: what the rules
// would have said is not known.
func blocked(v gatelatch.Verdict) bool {
	return slices.ContainsFunc(v.Reasons, func(r gatelatch.Reason) bool { return r.Layer == "hook" || r.Layer == "pause" || r.Layer == "quota" })
}

func record(l gatelatch.Listed) history.Record {
	r := history.Record{
		Call: l.ID, At: l.Batch.Created, Kind: l.Kind, Tool: l.Tool, Input: l.Input, Dir: l.Dir, Project: l.Session.Project,
		Effect: l.Verdict.Effect, State: l.State,
	}
	if d := l.Decided; d != nil {
		r.At, r.By = d.At, string(d.By.Kind)
		if strings.HasPrefix(d.Note, "everything was stopped") {
			r.By = history.ByPause
		}
	}
	for _, reason := range l.Verdict.Reasons {
		if reason.Layer == "grant" {
			r.Grant = reason.Rule
		}
	}
	return r
}

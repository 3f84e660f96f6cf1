package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/audit"
)

// anewAfter is how long a whole look at the trail counts: what was changed far
// behind shows only to who begins again.
const anewAfter = 10 * time.Minute

// verifier checks the chain of the trail beside other work.
type verifier struct {
	spawn func(func())
	mu    sync.Mutex
	busy  chan struct{} // closed when the look under way is over
	chain audit.Chain
	seen  audit.Chain // the longest that was whole: what comes later begins with it
	begun time.Time
	at    time.Time
	wrong string
}

// trailState says how far the trail is whole, and has the rest looked at.
func trailState(s *Server, q *request) (api.Audit, error) {
	st, err := q.seat.Status(q.Context())
	if err != nil {
		return api.Audit{}, err
	}
	v := &s.chain
	ctx, stop := context.WithTimeout(q.Context(), patience/8)
	defer stop()
	select { // a short trail is checked before the answer
	case <-v.look(q.base(), q.seat, st.Seq, anewAfter):
	case <-ctx.Done():
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	seq, _ := v.chain.Head()
	return api.Audit{Checked: int64(seq), Seq: max(int64(st.Seq), int64(seq)), At: timeOrNil(v.at), Problem: v.wrong}, nil
}

// look begins a look at what is new, or at everything anew, if there is need:
// the last whole one was longer ago than life.
func (v *verifier) look(base context.Context, seat *gatelatch.Seat, to gatelatch.Seq, life time.Duration) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy != nil {
		return v.busy
	}
	seq, _ := v.chain.Head()
	anew := v.wrong != "" || seq > to || time.Since(v.begun) > life
	over := make(chan struct{})
	if !anew && seq == to {
		v.at = time.Now()
		close(over)
		return over
	}
	if anew {
		v.begun = time.Now()
	}
	v.busy = over
	v.spawn(func() { v.work(base, seat, anew) })
	return over
}

func (v *verifier) work(ctx context.Context, seat *gatelatch.Seat, anew bool) {
	v.mu.Lock()
	chain, seen := v.chain, v.seen
	v.mu.Unlock()
	if anew {
		chain = audit.Chain{}
	}
	far, link := seen.Head()
	wrong := ""
	for wrong == "" {
		seq, _ := chain.Head()
		es, err := seat.Events(ctx, seq, trailLimit)
		if err != nil {
			break // what can't be read now is looked at next time
		}
		if len(es) == 0 {
			if seq < far {
				wrong = fmt.Sprintf("event %d and all that followed are missing", seq+1)
			}
			break
		}
		for _, e := range es {
			err := chain.Next(e)
			if err == nil && e.Seq == far && e.Link != link {
				err = fmt.Errorf("event %d is another than before: it or one before was changed", far)
			}
			if err != nil {
				wrong = err.Error()
				break
			}
		}
		if !anew {
			v.note(chain, wrong)
		}
	}
	v.note(chain, wrong)
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.busy)
	v.busy = nil
}

func (v *verifier) note(chain audit.Chain, wrong string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.chain, v.wrong, v.at = chain, wrong, time.Now()
	seq, _ := chain.Head()
	if far, _ := v.seen.Head(); wrong == "" && seq > far {
		v.seen = chain
	}
}

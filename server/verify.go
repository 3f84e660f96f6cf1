package server

import (
	"context"
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
	mu    sync.Mutex
	busy  bool
	chain audit.Chain
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
	v.mu.Lock()
	defer v.mu.Unlock()
	seq, _ := v.chain.Head()
	stale := time.Since(v.begun) > anewAfter && seq >= st.Seq
	if !v.busy && (v.at.IsZero() || seq < st.Seq || stale || v.wrong != "") {
		if stale || v.wrong != "" || v.begun.IsZero() {
			v.begun = time.Now()
		}
		v.busy = true
		go v.work(q.base(), q.seat, stale || v.wrong != "")
	}
	return api.Audit{Checked: int64(seq), Seq: int64(st.Seq), At: timeOrNil(v.at), Problem: v.wrong}, nil
}

func (v *verifier) work(ctx context.Context, seat *gatelatch.Seat, anew bool) {
	v.mu.Lock()
	chain := v.chain
	v.mu.Unlock()
	if anew {
		chain = audit.Chain{}
	}
	wrong := ""
	for wrong == "" {
		seq, _ := chain.Head()
		es, err := seat.Events(ctx, seq, trailLimit)
		if err != nil || len(es) == 0 {
			break // what can't be read now is looked at next time
		}
		for _, e := range es {
			if err := chain.Next(e); err != nil {
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
	v.busy = false
	v.mu.Unlock()
}

func (v *verifier) note(chain audit.Chain, wrong string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.chain, v.wrong, v.at = chain, wrong, time.Now()
}

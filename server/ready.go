package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// A Check is something that a gateway needs to decide. What is wrong with it
// is told to people elsewhere: whoever probes hears only its name.
type Check struct {
	Name    string
	Problem func() string // "" if nothing is wrong
}

const (
	readyFor  = time.Second // how long an answer counts: anybody may ask
	readyTime = 2 * time.Second
	readyAnew = 24 * time.Hour // how often probing alone has the whole trail looked at
)

// readiness is the last answer.
type readiness struct {
	mu      sync.Mutex
	at      time.Time
	failing []string
	asked   chan error // the store's answer, while it is awaited
}

func ready(s *Server, q *request) error {
	s.serveReady(q.w, q.base())
	return nil
}

func (s *Server) serveReady(w http.ResponseWriter, base context.Context) { //nolint:revive // the context is not the request's
	if failing := s.failing(base); len(failing) > 0 {
		w.Header().Set("Retry-After", "1")
		p := api.NewProblem(http.StatusServiceUnavailable, api.CodeNotReady, "not ready: "+strings.Join(failing, ", "), "")
		write(w, p.Status, api.ProblemType, p)
		return
	}
	answer(w, http.StatusOK, api.Ready{Ready: true})
}

// failing names what keeps the gateway from deciding.
func (s *Server) failing(base context.Context) []string {
	if s.drain.begun() {
		return []string{"stopping"}
	}
	r := &s.ready
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) < readyFor {
		return r.failing
	}
	r.failing = nil
	if err := r.store(base, s.opt.Gate); err != nil {
		r.failing = append(r.failing, "store")
	} else if !s.chainHolds(base) {
		r.failing = append(r.failing, "audit")
	}
	for _, c := range s.opt.Checks {
		if c.Problem() != "" && !slices.Contains(r.failing, c.Name) {
			r.failing = append(r.failing, c.Name)
		}
	}
	r.at = time.Now()
	return r.failing
}

// store asks for a change that changes nothing. One that never ends is asked
// only once.
func (r *readiness) store(base context.Context, gate *gatelatch.Gate) error {
	if r.asked == nil {
		asked := make(chan error, 1)
		r.asked = asked
		go func() { asked <- gate.Ping(base) }()
	}
	t := time.NewTimer(readyTime)
	defer t.Stop()
	select {
	case err := <-r.asked:
		r.asked = nil
		return err
	case <-t.C:
		return context.DeadlineExceeded
	}
}

// chainHolds has what is new in the trail looked at, and says what is known.
func (s *Server) chainHolds(base context.Context) bool {
	seat := s.opt.Gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "ready"}) // it only reads
	st, err := seat.Status(base)
	if err != nil {
		return false
	}
	s.chain.look(base, seat, st.Seq, readyAnew)
	s.chain.mu.Lock()
	defer s.chain.mu.Unlock()
	return s.chain.wrong == ""
}

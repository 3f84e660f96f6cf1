package server

import (
	"errors"
	"net/http"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// propose answers at once, or holds the request as await does.
func propose(s *Server, q *request) error {
	in, err := bodyOf[api.Proposal](q)
	if err == nil {
		err = errors.Join(q.names(&in.Message, "message"), compact(in.Calls))
	}
	switch {
	case err != nil:
		return err
	case in.Wait < 0 || in.Wait > 0 && in.Hold.Holder == "":
		return invalid(errors.New("wait_seconds goes with a hold: who waits for a batch holds it then"))
	}
	if foreign(q.Request) && in.Session.Host == hostname() {
		in.Session.Host = "" // whose files its calls are about, only we could say
	}
	b, err := q.seat.Propose(q.Context(), in.Domain())
	if err != nil {
		return err
	}
	out := api.FromBatch(b, in.Hold.Holder)
	if in.Wait > 0 && out.Opened == nil {
		return s.hold(q, b.ID, in.Hold, in.Wait)
	}
	answer(q.w, http.StatusOK, out)
	return nil
}

// await holds the request until the batch is the asker's, or says 202 so that
// the client asks again: no proxy and no client limit cuts a long wait.
func await(s *Server, q *request) error {
	in, err := bodyOf[api.Await](q)
	if err != nil {
		return err
	}
	if _, err := q.seat.Batch(q.Context(), q.PathValue("id")); err != nil { // before it counts as waited for
		return err
	}
	return s.hold(q, q.PathValue("id"), in.Hold, in.Wait)
}

func (s *Server) hold(q *request, batch string, h api.Hold, seconds int) error {
	wait := api.MaxWait
	if w := time.Duration(seconds) * time.Second; seconds > 0 && w < wait {
		wait = w
	}
	p := &parked{}
	w := &poll{s: s, batch: batch, hold: h.Domain(), end: time.Now().Add(wait)}
	w.unwatch = q.seat.Watch(w.batch, p.ring) // before it looks: nothing is missed in between
	p.waiter = w
	until, err := w.look(q)
	if err != nil || until.IsZero() {
		w.leave()
		return err
	}
	return s.park(q, p, until)
}

// poll is an agent that waits for a batch.
type poll struct {
	s       *Server
	batch   string
	hold    gatelatch.Hold
	end     time.Time
	unwatch func()
}

// turn looks again. The key may have ended since, and what is decided now is
// not for who has none.
func (w *poll) turn(q *request) (until time.Time, err error) {
	if err := w.s.opt.Auth.Check(q.Context(), q.key); err != nil {
		return time.Time{}, err
	}
	return w.look(q)
}

func (w *poll) look(q *request) (until time.Time, err error) {
	b, held, err := q.seat.Look(q.Context(), w.batch, w.hold)
	switch {
	case err != nil:
		return time.Time{}, err
	case held:
		answer(q.w, http.StatusOK, api.FromBatch(b, w.hold.Holder))
	case q.Context().Err() != nil:
		return time.Time{}, q.Context().Err()
	case !time.Now().Before(w.end):
		answer(q.w, http.StatusAccepted, api.FromBatch(b, w.hold.Holder))
	default:
		return w.end, nil
	}
	return time.Time{}, nil
}

func (w *poll) leave() { w.unwatch() }

package server

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/gatelatch/gatelatch"
)

const (
	heartbeat  = 15 * time.Second
	writeLimit = 10 * time.Second // a subscriber that does not read is cut off
)

// events streams the trail behind an event. All subscribers are sent the same
// tail; one that is further behind reads the store at its own pace, so a slow
// one holds nothing up and loses nothing.
func events(s *Server, q *request) error {
	after, err := afterOf(q.Request)
	if err != nil {
		return err
	}
	st, err := q.seat.Status(q.Context())
	if err != nil {
		return err
	}
	if after > st.Seq { // the trail was cut back: what the page knows is void
		q.w.Header().Set("Content-Type", "text/event-stream")
		_, _ = q.w.Write([]byte("event: resync\ndata: {}\n\n"))
		return nil
	}
	p := &parked{}
	p.waiter = &stream{s: s, p: p, after: after}
	s.tail.join(q.base(), p, q.seat, st.Seq)
	return s.park(q, p, time.Now())
}

// stream is a subscriber. It ends when the client is gone, its key is revoked or
// the gateway stops: the client comes again and asks from where it was.
type stream struct {
	s     *Server
	p     *parked
	after gatelatch.Seq
	beat  time.Time // when the client must hear something
}

func (f *stream) leave() { f.s.tail.leave(f.p) }

func (f *stream) turn(q *request) (until time.Time, err error) {
	if f.beat.IsZero() {
		q.w.Header().Set("Content-Type", "text/event-stream")
		// A key may have ended since it was shown, and before what is sent now.
		if err = f.mayRead(q); err == nil {
			err = f.send(q, fmt.Appendf(nil, "retry: %d\n: open\n\n", comeAgain()))
		}
	}
	for err == nil {
		var more part
		if more, err = f.next(q); err != nil {
			break
		}
		text := more.text
		if len(text) == 0 {
			if time.Now().Before(f.beat) {
				return f.beat, nil
			}
			text = []byte(": beat\n\n")
		}
		f.after, err = more.upto(), f.send(q, text)
	}
	return time.Time{}, err
}

// next is what the client does not have yet.
func (f *stream) next(q *request) (more part, err error) {
	more, ok, err := f.s.tail.behind(f.after)
	if err == nil && !ok {
		more, err = f.s.tail.older(q.Context(), q.seat, f.after)
	}
	// A revoked key is an event too: it never outlives its revocation here.
	if err == nil && more.revoked > f.after {
		err = f.mayRead(q)
	}
	return more, errors.Join(err, q.Context().Err())
}

func (f *stream) mayRead(q *request) error {
	return f.s.opt.Auth.Check(q.Context(), q.key)
}

func (f *stream) send(q *request, text []byte) error {
	now := time.Now()
	f.beat = now.Add(heartbeat)
	if err := http.NewResponseController(q.w).SetWriteDeadline(now.Add(writeLimit)); err != nil {
		return err
	}
	_, err := q.w.Write(text)
	return err
}

// comeAgain is after how many milliseconds a client whose stream ended comes
// again: not all of them at once.
func comeAgain() int64 { return 500 + rand.Int64N(2000) } //nolint:gosec // jitter, not a secret

// afterOf is the event behind which the client wants to hear. An EventSource
// that comes again has the same address as before: its header counts.
func afterOf(r *http.Request) (gatelatch.Seq, error) {
	query, header := r.URL.Query(), r.Header.Values("Last-Event-ID")
	values := query["after"]
	switch {
	case len(query) > 1, len(query) == 1 && len(values) != 1, len(header) > 1, len(values)+len(header) == 0:
		return 0, badQuery("after", "or the header Last-Event-ID is needed, once and alone")
	case len(header) == 1:
		values = header
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || n < 0 {
		return 0, badQuery("after", "is the number of an event, and so is the header Last-Event-ID")
	}
	return gatelatch.Seq(n), nil
}

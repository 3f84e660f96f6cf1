package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

const (
	heartbeat    = 15 * time.Second
	writeLimit   = 10 * time.Second // a subscriber that does not read is cut off
	eventsAtOnce = 256
)

// events streams the trail behind ?after=. Each subscriber reads the store at
// its own pace, so a slow one holds nothing up and loses nothing.
func events(s *Server, q *request) error {
	after, err := afterOf(q.URL.Query())
	if err != nil {
		return err
	}
	st, err := q.seat.Status(q.Context())
	if err != nil {
		return err
	}
	out := &stream{w: q.w, ctl: http.NewResponseController(q.w)}
	q.w.Header().Set("Content-Type", "text/event-stream")
	q.w.WriteHeader(http.StatusOK)
	if after > st.Seq { // the trail was cut back: what the page knows is void
		return out.send("event: resync\ndata: {}\n\n")
	}
	s.follow(q, out, after)
	return nil
}

// follow sends events until the client is gone, its key is revoked or the
// gateway stops. There is nobody left to tell an error to: the client comes
// again and asks from where it was.
func (s *Server) follow(q *request, out *stream, after gatelatch.Seq) {
	text := ": open\n\n"
	for out.send(text) == nil {
		es, err := q.next(after)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && q.Context().Err() == nil:
			text = ": beat\n\n"
			continue
		case err != nil:
			return
		}
		// A revoked key is an event too: it never outlives its revocation here.
		if !s.opt.Auth.Valid(q.Context(), q.key.ID) {
			return
		}
		if text, err = frames(es); err != nil {
			return
		}
		after = es[len(es)-1].Seq
	}
}

func afterOf(v map[string][]string) (gatelatch.Seq, error) {
	values := v["after"]
	if len(v) != 1 || len(values) != 1 {
		return 0, badQuery("after", "is needed, once and alone")
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || n < 0 {
		return 0, badQuery("after", "is the number of an event")
	}
	return gatelatch.Seq(n), nil
}

func (q *request) next(after gatelatch.Seq) ([]gatelatch.Event, error) {
	ctx, stop := context.WithTimeout(q.Context(), heartbeat)
	defer stop()
	return q.seat.Follow(ctx, after, eventsAtOnce)
}

func frames(es []gatelatch.Event) (string, error) {
	var text []byte
	for _, e := range es {
		raw, err := strictjson.Marshal(api.FromEvent(e))
		if err != nil {
			return "", err
		}
		text = fmt.Appendf(text, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, raw)
	}
	return string(text), nil
}

type stream struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
}

func (s *stream) send(text string) error {
	if err := s.ctl.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.ctl.Flush()
}

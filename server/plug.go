package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// A Plug is a protocol of somebody else's on the gateway's own address. Whoever
// reaches it has passed the checks of every route: Host, Origin, key, role.
type Plug struct {
	Path  string
	Role  api.Role
	Serve func(w http.ResponseWriter, r *http.Request, g Guest)
}

// A Guest is who was let in. What stays connected asks again whether it may.
type Guest struct {
	Seat *gatelatch.Seat
	Who  gatelatch.Actor
	// Base is the gateway's context: a connection that was taken over outlives
	// its request. It ends with the key, too.
	Base  context.Context //nolint:containedctx // see above
	Valid func() error
	// MaxBody is how many bytes it may post.
	MaxBody int64
}

// proofPrefix begins the subprotocol by which a page shows its half of the
// session: a browser sends no header of its own with a WebSocket.
const proofPrefix = "proof."

func (s *Server) plug(d Door, p Plug) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guestOf(r).speaks(p.Role == api.Agents)
		bare, err := checkOrigin(d, r)
		if err != nil {
			refuse(w, http.StatusForbidden, api.CodeOrigin, err.Error(), "")
			return
		}
		if err := checkBody(api.Route{}, r); err != nil {
			refuse(w, http.StatusUnsupportedMediaType, api.CodeMediaType, err.Error(), "")
			return
		}
		if s.drain.begun() {
			stopping(w)
			return
		}
		q := &request{Request: withProof(r), w: w, door: d, route: api.Route{Method: http.MethodPost, Role: p.Role}} // it acts, whatever it begins with
		if !s.enter(q, bare) {
			return
		}
		if !s.guests.enter(q.key.ID) {
			refuse(w, http.StatusTooManyRequests, api.CodeTooMany, "this key has too many connections", "close some first")
			return
		}
		defer s.guests.leave(q.key.ID)
		// A WebSocket begins with a GET, and acts: a browser says where it comes from.
		if bare && q.key.Kind == gatelatch.BrowserKey {
			refuse(w, http.StatusForbidden, api.CodeOrigin, "a browser says where a request comes from", "")
			return
		}
		ctl := http.NewResponseController(w)
		if r.Method != http.MethodPost { // a body still has its time
			_ = ctl.SetReadDeadline(time.Time{})
			guestOf(r).served()
		}
		_ = ctl.SetWriteDeadline(time.Time{})
		s.waiting.Add(1)
		defer s.waiting.Done()
		base, leave := s.opt.Auth.While(q.base(), q.key)
		defer leave()
		ctx, stop := context.WithCancelCause(r.Context())
		defer stop(nil)
		defer context.AfterFunc(base, func() { stop(context.Cause(base)) })()
		p.Serve(w, r.WithContext(ctx), Guest{MaxBody: api.BodyFor(s.opt.Gate.InputLimit()), Seat: q.seat, Who: q.who, Base: base, Valid: func() error { return s.opt.Auth.Check(q.base(), q.key) }})
	})
}

// withProof puts a proof among the subprotocols where all others are. One that
// is given in both places is given twice, which shows nobody.
func withProof(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for _, name := range strings.Split(line, ",") {
			if proof, ok := strings.CutPrefix(strings.TrimSpace(name), proofPrefix); ok {
				r.Header.Add(api.PageHeader, proof)
			}
		}
	}
	return r
}

// Body reads the body of a plug's POST in its time, and leaves none to be
// waited for. One of more than most bytes is an error.
func Body(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	return readBody(&request{Request: r, w: w, most: most})
}

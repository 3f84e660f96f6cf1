package server

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/qr"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/push"
)

// gather is how long calls that come together have one message.
const gather = 300 * time.Millisecond

func (s *Server) pushes() (*push.Sender, error) {
	if s.opt.Push == nil {
		return nil, invalid(errors.New("this gateway sends no messages to browsers"))
	}
	return s.opt.Push, nil
}

func pushKey(s *Server, _ *request) (api.PushKey, error) {
	p, err := s.pushes()
	if err != nil {
		return api.PushKey{}, err
	}
	return api.PushKey{Key: p.PublicKey()}, nil
}

func subscribe(s *Server, q *request, in api.Subscribe) (api.None, error) {
	p, err := s.pushes()
	if err != nil {
		return api.None{}, err
	}
	err = p.Add(push.Subscription{Endpoint: in.Endpoint, P256dh: in.P256dh, Auth: in.Auth, Key: q.key.ID})
	if errors.Is(err, push.ErrSubscription) {
		err = invalid(err)
	}
	return api.None{}, err
}

func unsubscribe(s *Server, _ *request, in api.Unsubscribe) (api.None, error) {
	p, err := s.pushes()
	if err != nil {
		return api.None{}, err
	}
	return api.None{}, p.Remove(func(o push.Subscription) bool { return o.Endpoint == in.Endpoint })
}

// Push tells subscribed browsers about calls that begin to wait, until ctx
// ends. What a browser was logged in with decides whether it still hears.
func (s *Server) Push(ctx context.Context) {
	if s.opt.Push == nil {
		return
	}
	seat := s.opt.Gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "push"}) // it only reads
	after, following := gatelatch.Seq(-1), false
	for ctx.Err() == nil {
		var err error
		if !following {
			after, following, err = s.takeUp(ctx, seat, after)
		}
		var es []gatelatch.Event
		if err == nil && following {
			es, err = seat.Follow(ctx, after, eventsAtOnce)
		}
		if err != nil || !following {
			wait(ctx, time.Second)
			continue
		}
		news := false
		for _, e := range es {
			after = e.Seq
			news = news || e.Kind == gatelatch.CallProposed || e.Kind == gatelatch.BatchExtended
		}
		if following = len(s.opt.Push.Subscriptions()) > 0; news && following {
			wait(ctx, gather)
			s.push(ctx, seat)
		}
	}
}

// takeUp returns where to follow the trail from, if a browser wants to hear of
// it: from before it could have said so, or what comes right after is lost.
func (s *Server) takeUp(ctx context.Context, seat *gatelatch.Seat, after gatelatch.Seq) (gatelatch.Seq, bool, error) {
	now, err := lastEvent(ctx, seat)
	if err != nil {
		return after, false, err
	}
	wanted := len(s.opt.Push.Subscriptions()) > 0
	if after < 0 || !wanted {
		after = now
	}
	return after, wanted, nil
}

func lastEvent(ctx context.Context, seat *gatelatch.Seat) (gatelatch.Seq, error) {
	st, err := seat.Status(ctx)
	return st.Seq, err
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// push sends one message about the newest of what waits, if anything new does.
func (s *Server) push(ctx context.Context, seat *gatelatch.Seat) {
	page, err := seat.List(ctx, gatelatch.Query{Pending: true, Newest: true, Limit: pastPart})
	if err != nil || len(page.Calls) == 0 || !s.unsaid(page.Calls[0].ID) {
		return
	}
	err = s.opt.Push.Remove(func(o push.Subscription) bool { return !s.opt.Auth.Lasts(ctx, o.Key) })
	if err != nil {
		s.opt.Log.Warn("could not forget a browser that logged out", "err", err)
	}
	l := page.Calls[0]
	raw, err := strictjson.Marshal(api.Pushed{
		Call: l.ID, Tool: short(l.Tool), Project: short(filepath.Base(l.Session.Project)), Waiting: len(page.Calls),
	})
	if err == nil {
		err = s.opt.Push.Send(ctx, raw)
	}
	if err != nil && ctx.Err() == nil {
		s.opt.Log.Warn("could not tell a browser that a call waits", "err", err)
	}
}

// unsaid reports whether no message named the call yet.
func (s *Server) unsaid(id string) bool {
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	if s.desk.pushed == id {
		return false
	}
	s.desk.pushed = id
	return true
}

// short is a name that an agent gave, safe to show and short.
func short(text string) string {
	const most = 60
	r := []rune(name(text))
	return strings.TrimSpace(string(r[:min(len(r), most)]))
}

// phoneLink makes a link for another device of the same person. What it lets in
// ends with the browser that it was made in, and can't pass it on.
func phoneLink(s *Server, q *request, _ api.None) (api.PhoneLink, error) {
	if s.opt.Public == "" {
		return api.PhoneLink{}, invalid(errors.New(`other devices can't reach this gateway: start it with --public-url, behind a tunnel or proxy with TLS`))
	}
	code, ends, err := s.opt.Auth.Code(q.Context(), q.key)
	if err != nil {
		return api.PhoneLink{}, err
	}
	link := s.opt.Public + "/login#c=" + code
	rows, err := qr.Rows(link)
	return api.PhoneLink{URL: link, Expires: ends, QR: rows}, err
}

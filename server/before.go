package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

const (
	likeMost = 300 // settled calls that one that waits is compared with
	likeNew  = 32  // read first: mostly that is all there is to add
)

// likes keeps of the newest settled calls what a call that waits is compared
// with, so that looking at one reads only what is new.
type likes struct {
	mu    sync.Mutex
	calls []like // newest first
}

type like struct {
	id      string
	kind    likeness
	input   gatelatch.Sum
	dir     string
	by      *gatelatch.Actor // the person who allowed it; nil is any other end
	at      time.Time
	touches []api.Touch
}

// likeness is what two calls have in common that do the same kind of thing.
type likeness struct{ project, tool, what string }

func likenessOf(l gatelatch.Listed) likeness {
	k := likeness{l.Session.Project, l.Tool, what(l.Call)}
	if n := l.Verdict.Needs; n != nil && n.Type != gatelatch.NeedCommand && len(n.Paths) > 0 {
		k.what = n.Paths[0]
	}
	return k
}

// read returns the newest settled calls.
func (s *likes) read(ctx context.Context, seat *gatelatch.Seat) ([]like, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page, err := seat.List(ctx, gatelatch.Query{Limit: likeNew})
	known := s.known(page)
	if err == nil && known < 0 && page.More {
		page, err = seat.List(ctx, gatelatch.Query{Limit: likeMost})
		known = s.known(page)
	}
	if err != nil {
		return nil, err
	}
	old := s.calls
	if known < 0 {
		known, old = len(page.Calls), nil
	}
	var out []like
	for _, l := range page.Calls[:known] {
		out = append(out, likeOf(l))
	}
	out = append(out, old...)
	s.calls = out[:min(len(out), likeMost)]
	return s.calls, nil
}

// known returns where on a page the calls begin that are kept, -1 if nowhere.
func (s *likes) known(p gatelatch.Page) int {
	return slices.IndexFunc(p.Calls, func(l gatelatch.Listed) bool { return len(s.calls) > 0 && l.ID == s.calls[0].id })
}

func likeOf(l gatelatch.Listed) like {
	k := like{id: l.ID, kind: likenessOf(l), input: l.InputSum, dir: l.Dir}
	if d := l.Decided; d != nil && l.State == gatelatch.Allowed && d.By.Kind == gatelatch.PersonActor {
		k.by, k.at, k.touches = &d.By, d.At, render.Touches(l.Verdict.Needs)
	}
	return k
}

// before says what is new about a call that waits, nil if it does not or that
// can't be known: it helps to decide, and must not stand in the way.
func (s *Server) before(q *request, l gatelatch.Listed) *api.Before {
	if l.State != gatelatch.Pending || l.Kind != gatelatch.Permission {
		return nil
	}
	settled, err := s.likes.read(q.Context(), q.seat)
	if err != nil {
		return nil
	}
	out, kind, known := &api.Before{Of: len(settled)}, likenessOf(l), map[api.Touch]bool{}
	for _, k := range settled {
		if k.by == nil || k.kind != kind {
			continue
		}
		if out.Count++; out.Count == 1 {
			by := actor(*k.by)
			out.Call, out.By, out.At = k.id, &by, &k.at
		}
		out.Exactly = out.Exactly || k.input == l.InputSum && k.dir == l.Dir
		for _, t := range k.touches {
			known[t] = true
		}
	}
	for _, t := range render.Touches(l.Verdict.Needs) {
		if out.Count > 0 && !known[t] {
			known[t], out.Fresh = true, append(out.Fresh, t)
		}
	}
	return out
}

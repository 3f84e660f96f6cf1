package server

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/render"
)

const (
	pastMost = 50_000 // settled calls that are kept in mind
	pastPart = 500    // read at once
)

// past keeps of each settled call the little that insight is made of. It is
// read beside other work, newest first, and afterwards only what is new.
type past struct {
	spawn  func(func()) // begins work that the server waits for when it ends
	mu     sync.Mutex
	calls  []settled // newest first
	at     map[string]time.Time
	whole  bool // all there is was read
	busy   bool
	failed error
	woken  []chan struct{}
}

// settled is a call as insight sees it.
type settled struct {
	id, tool, what          string
	agent, session, project string
	created, at             time.Time
	asked                   bool
	by                      gatelatch.ActorKind
	state                   gatelatch.State
	rules                   []spoke
}

// spoke names a rule as it stood when it spoke.
type spoke struct{ effect, layer, text, source string }

// read returns what is known after looking for what is new. It waits for the
// first look only as long as ctx does; whole says that nothing is missing.
func (p *past) read(ctx, base context.Context, seat *gatelatch.Seat) (calls []settled, whole bool, err error) {
	done := p.look(base, seat)
	select {
	case <-done:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, p.whole, p.failed
}

// look begins a look, or joins the one under way.
func (p *past) look(base context.Context, seat *gatelatch.Seat) <-chan struct{} {
	done := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.woken = append(p.woken, done)
	if !p.busy {
		p.busy = true
		p.spawn(func() { p.work(base, seat) })
	}
	return done
}

func (p *past) work(ctx context.Context, seat *gatelatch.Seat) {
	fresh, err := p.fresh(ctx, seat)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy, p.failed = false, err
	if err == nil {
		p.take(fresh)
	}
	for _, done := range p.woken {
		close(done)
	}
	p.woken = nil
}

// fresh reads the newest calls down to one that is known as it is.
func (p *past) fresh(ctx context.Context, seat *gatelatch.Seat) (out []settled, err error) {
	p.mu.Lock()
	known := maps.Clone(p.at)
	p.mu.Unlock()
	q := gatelatch.Query{Limit: pastPart}
	for len(out) < pastMost {
		page, err := seat.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, l := range page.Calls {
			s := settledOf(l)
			if at, ok := known[s.id]; ok && at.Equal(s.at) {
				return out, nil
			}
			out, q.After = append(out, s), s.id
		}
		if !page.More {
			break
		}
	}
	return out, nil
}

func (p *past) take(fresh []settled) {
	if p.at == nil {
		p.at = map[string]time.Time{}
	}
	again := map[string]bool{}
	for _, s := range fresh {
		again[s.id] = true
	}
	rest := slices.DeleteFunc(slices.Clone(p.calls), func(s settled) bool { return again[s.id] })
	p.calls = append(slices.Clone(fresh), rest...)
	if len(p.calls) > pastMost {
		p.calls = p.calls[:pastMost]
	}
	clear(p.at)
	for _, s := range p.calls {
		p.at[s.id] = s.at
	}
	p.whole = true
}

func settledOf(l gatelatch.Listed) settled {
	s := settled{
		id: l.ID, tool: l.Tool, what: what(l.Call), agent: l.Session.Agent, session: l.Session.ID, project: l.Session.Project,
		created: l.Batch.Created, at: l.Batch.Created, asked: l.Verdict.Effect == gatelatch.Ask, state: l.State,
	}
	if l.Decided != nil {
		s.at, s.by = l.Decided.At, l.Decided.By.Kind
	}
	for _, r := range l.Verdict.Reasons {
		if r.Rule != "" {
			s.rules = append(s.rules, spoke{r.Effect.String(), r.Layer, r.Rule, r.Source})
		}
	}
	return s
}

// what names the kind of a call: the programs of a command with their verbs, or
// the tool.
func what(c *gatelatch.Call) string {
	if n := c.Verdict.Needs; n != nil && n.Signature != "" {
		return render.OneLine(n.Signature)
	}
	return name(c.Tool)
}

// took is how long a person needed, if one decided.
func (s *settled) took() (time.Duration, bool) {
	if !s.asked || s.by != gatelatch.PersonActor {
		return 0, false
	}
	return max(0, s.at.Sub(s.created)), true
}

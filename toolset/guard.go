package toolset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/aside"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// A Guard stands around tools: hooks, then the gate, and after-hooks behind. Do
// not copy it once it is used.
type Guard struct {
	Service gatelatch.Service // asks; without one nothing is wrapped
	Session gatelatch.SessionInfo
	Dir     string        // the agent's working directory
	Limit   time.Duration // how long a person has; 0 is for ever
	// Before run in this process, in order, before the gateway is asked: it
	// judges and shows what they leave. It may have hooks of its own.
	Before []gatelatch.Hook
	After  []gatelatch.AfterHook
	Log    *slog.Logger // for after-hooks that fail; may be nil

	kept  kept
	once  sync.Once
	aside *aside.Group
}

func (g *Guard) check() error {
	switch {
	case g == nil || g.Service == nil:
		return invalid("tools are wrapped with a gateway to ask")
	case g.Session.ID == "":
		return invalid("tools are wrapped for a session")
	}
	return nil
}

// Wait waits for after-hooks that still run. Nothing is told after that.
func (g *Guard) Wait(ctx context.Context) { g.group().Wait(ctx) }

// maxAfter is how many after-hooks run at once.
const maxAfter = 32

func (g *Guard) group() *aside.Group {
	g.once.Do(func() { g.aside = aside.New(maxAfter, g.Log) })
	return g.aside
}

// guarded is a tool behind its guard.
type guarded struct {
	inner Runner
	name  string
	guard *Guard
}

// withGuard wraps a tool, once (O5): wrapping it again changes nothing.
func withGuard(t Tool, g *Guard) Tool {
	if _, done := find[guarded](t.Run); !done {
		t.Run = guarded{t.Run, t.Name, g}
	}
	return t
}

func (w guarded) unwrap() Runner { return w.inner }

// Run implements Runner. One call is a message of its own.
func (w guarded) Run(ctx context.Context, c Call) ([]byte, error) {
	rs, err := w.guard.message(ctx, c.ID, []asked{{Call: c, tool: w}})
	if err != nil {
		return nil, err
	}
	return rs[0].Output, rs[0].Err
}

// A BlockedError is the reason for which a hook blocked a call.
type BlockedError struct{ Hook, Reason string }

func (e *BlockedError) Error() string { return e.Reason }

// before runs the hooks over a call and returns what its input became. The
// first block ends it. A hook that fails or panics blocks.
func (g *Guard) before(ctx context.Context, tool string, c Call) (Call, error) {
	for _, h := range g.Before {
		res, err := g.ask(ctx, h, tool, c)
		if err == nil && !res.Block && res.Input != nil {
			c.Input, err = strictjson.Merge(c.Input, res.Input) // a copy: the caller's input stays
		}
		switch {
		case err != nil:
			return c, &BlockedError{h.Name(), fmt.Sprintf("the hook %s failed: %v", h.Name(), err)}
		case res.Block && res.Reason == "":
			return c, &BlockedError{h.Name(), "blocked by the hook " + h.Name()}
		case res.Block:
			return c, &BlockedError{h.Name(), res.Reason}
		}
	}
	return c, nil
}

func (g *Guard) ask(ctx context.Context, h gatelatch.Hook, tool string, c Call) (res gatelatch.HookResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	call := g.call(tool, c)
	return h.Before(ctx, &call, g.session())
}

// call is a call as hooks see it.
func (g *Guard) call(tool string, c Call) gatelatch.Call {
	return gatelatch.Call{Ref: c.ID, Kind: gatelatch.Permission, Tool: tool, Input: slices.Clone(c.Input), Dir: g.Dir}
}

func (g *Guard) session() *gatelatch.Session {
	s := g.Session
	return &gatelatch.Session{ID: s.ID, Name: s.Name, Project: s.Project, Mode: s.Mode, Host: s.Host}
}

// after tells what became of a call, with the input that it really had, and
// waits for nobody (O7).
func (g *Guard) after(tool string, c Call, r Result) {
	if ran, ok := g.kept.take(c.ID); ok {
		c.Input = ran
	}
	for _, h := range g.After {
		call := g.call(tool, c)
		call.State, call.Outcome = gatelatch.Allowed, &gatelatch.Outcome{Kind: gatelatch.Done, Result: r.Output}
		if r.Err != nil {
			call.Outcome = &gatelatch.Outcome{Kind: gatelatch.Failed, Result: []byte(r.Err.Error())}
		}
		if !r.Ran {
			call.State = gatelatch.Denied
		}
		g.group().Go("after-hook "+h.Name(), func(ctx context.Context) error { return h.After(ctx, &call, g.session()) })
	}
}

var errNoID = errors.New("a call without an id can't be asked about, so it is refused")

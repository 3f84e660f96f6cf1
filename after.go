package gatelatch

import (
	"context"
	"log/slog"
	"slices"

	"github.com/gatelatch/gatelatch/internal/aside"
)

// maxAfter is how many after-hooks run at once. What comes on top is left out,
// and logged.
const maxAfter = 64

// afterHooks are told what calls came to (O7).
type afterHooks struct {
	hooks []AfterHook
	aside *aside.Group
}

// TellAfter has hooks told of every call that is reported. Set it before the
// gate is used; log gets their failures.
func (g *Gate) TellAfter(log *slog.Logger, hooks ...AfterHook) {
	g.after = afterHooks{hooks, aside.New(maxAfter, log)}
}

// WaitAfter waits for after-hooks that still run, and tells the rest to stop
// when ctx ends. No hook is told of anything after that.
func (g *Gate) WaitAfter(ctx context.Context) {
	if g.after.aside != nil {
		g.after.aside.Wait(ctx)
	}
}

// ended is what a transaction reported. It is told after the commit.
type ended struct {
	session *Session
	calls   []*Call
}

// note collects what was reported just now, once for each call: repeating a
// report records nothing.
func (a *afterHooks) note(tx Tx, b *Batch) (e ended, err error) {
	for _, ev := range b.Events() {
		if ev.Kind == CallReported && len(a.hooks) > 0 {
			c := *b.Call(ev.Call)
			o := *c.Outcome
			c.Outcome, c.Input = &o, slices.Clone(c.Input)
			e.calls = append(e.calls, &c)
		}
	}
	if len(e.calls) > 0 {
		e.session, err = tx.Session(b.Agent, b.Session)
	}
	return e, err
}

func (a *afterHooks) tell(e ended) {
	for _, c := range e.calls {
		for _, h := range a.hooks {
			call, session := *c, *e.session
			a.aside.Go("after-hook "+h.Name(), func(ctx context.Context) error { return h.After(ctx, &call, &session) })
		}
	}
}

package toolset

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// A ModelCall is one tool call of a model's message.
type ModelCall struct {
	Tool string
	Call
}

// A Result is what came of a call. Err is for the model, too: why a call did
// not run, or how it failed.
type Result struct {
	Call      string // its id
	Output    []byte
	Err       error
	Ran       bool
	Interrupt bool // a person wants the agent's turn to end
}

// A RefusedError says why a call did not run.
type RefusedError struct {
	State     gatelatch.State
	Text      string
	Interrupt bool // a person wants the agent's turn to end
}

func (e *RefusedError) Error() string { return e.Text }

// RunMessage runs the calls of one message of the model, in order, once all of
// them are settled: none runs while another still waits. The tools are those
// that Wrap returned; a call of any other is answered, and not asked about.
// When it returns an error nothing may go on; calling it again for the same
// message is harmless.
func RunMessage(ctx context.Context, message string, tools []Tool, calls []ModelCall) ([]Result, error) {
	var guard *Guard
	var ask []asked
	for _, c := range calls {
		a := asked{Call: c.Call}
		for _, t := range tools {
			if t.Name != c.Tool {
				continue
			}
			w, ok := find[guarded](t.Run)
			if !ok || guard != nil && guard != w.guard {
				return nil, fmt.Errorf("tool %q is not wrapped, or not with the others", t.Name)
			}
			if s, ok := find[aborting](t.Run); ok && guard == nil {
				var stop func()
				ctx, stop = s.join(ctx)
				defer stop() //nolint:gocritic // once
			}
			guard, a.tool = w.guard, w
		}
		ask = append(ask, a)
	}
	if guard == nil { // nothing of it is known
		guard = new(Guard)
	}
	return guard.message(ctx, message, ask)
}

// asked is a call on its way. Without a tool it is one that there is none of.
type asked struct {
	Call
	tool guarded
}

// message is the way of every call: hooks, the gate, the tool, after-hooks.
func (g *Guard) message(ctx context.Context, message string, calls []asked) ([]Result, error) {
	if slices.ContainsFunc(calls, func(a asked) bool { return a.ID == "" }) {
		return nil, errNoID
	}
	p := gatelatch.Proposal{Session: g.Session, Message: message, Limit: g.Limit}
	out := make([]Result, len(calls))
	for i, a := range calls {
		out[i] = Result{Call: a.ID}
		if a.tool.inner == nil {
			out[i].Err = &RefusedError{State: gatelatch.Denied, Text: "There is no such tool."}
			continue
		}
		c, err := g.before(ctx, a.tool.name, a.Call)
		if err != nil {
			out[i].Err = err
			continue
		}
		g.kept.put(a.ID, c.Input)
		p.Calls = append(p.Calls, gatelatch.ProposedCall{Ref: a.ID, Kind: gatelatch.Permission, Tool: a.tool.name, Input: c.Input, Dir: g.Dir})
	}
	err := g.gated(ctx, p, calls, out)
	for i, a := range calls {
		if err != nil && out[i].Err == nil {
			out[i].Err = err
		}
		if a.tool.inner != nil {
			g.after(a.tool.name, a.Call, out[i])
		}
	}
	return out, err
}

// gated proposes what hooks let through as one batch, runs what is allowed with
// the input that was judged and shown, and fills in the results.
func (g *Guard) gated(ctx context.Context, p gatelatch.Proposal, calls []asked, results []Result) error {
	if len(p.Calls) == 0 {
		return nil
	}
	b, err := g.Service.Propose(ctx, p)
	if err != nil {
		return err
	}
	failed := map[string]error{} // RunBatch runs one at a time
	rs, err := gatelatch.RunBatch(ctx, g.Service, b.ID, gatelatch.Hold{Holder: "hol_" + strings.ToLower(rand.Text())},
		func(ctx context.Context, r *gatelatch.Running) (out []byte, err error) {
			for i, a := range calls {
				if a.ID == r.Ref {
					g.kept.put(a.ID, r.Input)
					results[i].Ran = true
					out, err = a.tool.inner.Run(ctx, Call{ID: a.ID, Input: r.Input})
					failed[a.ID] = err
				}
			}
			return out, err
		})
	switch {
	case errors.Is(err, gatelatch.ErrFinished): // an earlier attempt ran it
		rs, err = g.Service.Results(ctx, b.ID)
	case ctx.Err() != nil:
		err = errors.Join(err, g.withdraw(ctx, b.ID))
	}
	if err != nil {
		return err
	}
	for i := range results {
		for _, r := range rs {
			if r.Ref == results[i].Call {
				results[i] = result(r, failed[r.Ref])
			}
		}
	}
	return nil
}

// result is what a model gets to hear.
func result(r gatelatch.Result, failure error) Result {
	out := Result{Call: r.Ref, Output: r.Output, Ran: r.Outcome != "", Interrupt: r.Interrupt}
	switch {
	case r.Outcome == gatelatch.Done:
	case r.Outcome == "":
		out.Output, out.Err = nil, &RefusedError{r.State, string(r.Output), r.Interrupt}
	case failure != nil:
		out.Err = failure
	default:
		out.Err = errors.New(string(r.Output))
	}
	return out
}

// withdraw takes back what still waits: nobody would hear the answer.
func (g *Guard) withdraw(ctx context.Context, batchID string) error {
	const soon = 2 * time.Second
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), soon)
	defer stop()
	return g.Service.Withdraw(ctx, batchID, "the agent stopped")
}

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/claudecode"
	"github.com/gatelatch/gatelatch/internal/id"
)

// ask is one request of the agent that waits for its answer.
type ask struct {
	call *call
	stop context.CancelCauseFunc
}

var errCancelled = errors.New("the agent stopped asking")

// begin answers a request as soon as it is decided. The same request again is
// the same question (D9).
func (h *Host) begin(requestID string, q CanUseTool) {
	h.mu.Lock()
	if h.asks[requestID] != nil {
		h.mu.Unlock()
		return
	}
	ctx, stop := context.WithCancelCause(h.ctx)
	a := &ask{call: h.asked(&q), stop: stop}
	h.asks[requestID] = a
	h.mu.Unlock()
	h.work.Go(func() {
		defer stop(nil)
		r, answered := h.decide(ctx, a.call, q)
		h.mu.Lock()
		waited := h.asks[requestID] == a
		delete(h.asks, requestID)
		h.mu.Unlock()
		if waited && answered {
			h.answer(requestID, r)
		}
	})
}

// cancel ends a request that the agent no longer waits on.
func (h *Host) cancel(requestID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.asks[requestID]; a != nil {
		delete(h.asks, requestID)
		a.stop(errCancelled)
	}
}

// decide returns the answer to a request, or none if nobody waits for it any
// more. A panic is a denial, too.
func (h *Host) decide(ctx context.Context, c *call, q CanUseTool) (r Result, answered bool) {
	defer func() {
		if p := recover(); p != nil {
			r, answered = DenyResult("Gatelatch failed on this call, so it was denied.", false), true
		}
	}()
	if why := misfit(q.ToolName, q.Input); why != "" {
		return DenyResult(why, false), true
	}
	for {
		g, ref, err := h.join(ctx, c, q)
		if err == nil {
			err = h.awaitGroup(ctx, g, c)
		}
		switch {
		case ctx.Err() != nil:
			return r, false
		case err != nil:
			return DenyResult(explain(err), false), true
		}
		if r, answered = h.settle(ctx, g, c, ref); answered {
			return r, ctx.Err() == nil
		}
		h.mu.Lock()
		again := c.again()
		h.mu.Unlock()
		if !again {
			return DenyResult("The request was withdrawn.", false), true
		}
	}
}

// awaitGroup waits until the batch of a call is decided.
func (h *Host) awaitGroup(ctx context.Context, g *group, c *call) error {
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	// Others of the batch may still be asked about; it ends with the turn.
	if len(g.calls) == 1 && g.calls[0] == c {
		g.stop(context.Cause(ctx))
	}
	return context.Cause(ctx)
}

// settle turns a decided batch into the answer for one of its calls. It has
// none for a call that was withdrawn with others: that is asked again.
func (h *Host) settle(ctx context.Context, g *group, c *call, ref string) (Result, bool) {
	own := g.call(ref)
	if own == nil || !g.batch.Held() {
		return DenyResult("The gateway's answer is not about this call, so it was denied.", false), true
	}
	h.opt.Notice(Notice{Kind: Settled, Tool: own.Tool, Text: string(own.State)})
	if stopper := interrupted(g.batch); stopper != nil {
		h.keepNote(stopper)
		return DenyResult(stopper.Answer(), true), true
	}
	switch {
	case own.Outcome != nil && own.State == gatelatch.Allowed: // an allow is used once
		return DenyResult("This call has already run, so it does not run again.", false), true
	case own.State == gatelatch.Allowed:
	case own.State == gatelatch.Withdrawn:
		return Result{}, false
	default:
		return DenyResult(own.Answer(), false), true
	}
	if err := h.consume(ctx, g, ref); err != nil {
		return DenyResult(explain(err), false), true
	}
	return h.allow(c, own)
}

// interrupted returns the call whose denial ends the whole turn.
func interrupted(b *gatelatch.Batch) *gatelatch.Call {
	for _, c := range b.Calls {
		if c.State == gatelatch.Denied && c.Decided != nil && c.Decided.Interrupt {
			return c
		}
	}
	return nil
}

// consume takes the allow of a call, and those before it: the agent runs them
// in order, so it has asked about them, asks right now, or gave them up.
func (h *Host) consume(ctx context.Context, g *group, ref string) error {
	g.turn.Lock()
	defer g.turn.Unlock()
	if g.batch.Opened.All {
		if own := g.call(ref); own.Consumed == nil {
			return errors.New("the gateway did not hand the call over")
		}
		return nil
	}
	for _, b := range g.batch.Calls {
		if b.State == gatelatch.Allowed && !g.consumed[b.ID] {
			take := gatelatch.Take{Batch: g.batch.ID, Call: b.ID, Fence: g.batch.Opened.Fence, Digest: b.Digest, Nonce: id.New("use")}
			if _, err := h.opt.Service.Consume(ctx, take); err == nil {
				g.consumed[b.ID] = true
			} else if b.Ref == ref {
				return err
			}
		}
		if b.Ref == ref {
			return nil
		}
	}
	return errors.New("the gateway's answer is not about this call")
}

// allow is the answer for a call that may run (P5).
func (h *Host) allow(c *call, own *gatelatch.Call) (Result, bool) {
	input, err := claudecode.Effective(own)
	if err != nil {
		return DenyResult(explain(err), false), true
	}
	h.mu.Lock()
	c.told = changes(c.input, own.Input)
	h.mu.Unlock()
	r := AllowResult(input)
	if own.Kind != gatelatch.Plan || own.Decided == nil {
		return r, true
	}
	plan := planOf(own.Input)
	if own.Decided.Choice == gatelatch.ClearContextAndStart && h.opt.Implement != nil && plan != "" {
		h.reportNow(c, true)
		h.opt.Implement(Implement{Plan: plan, Mode: own.Decided.Mode})
		<-h.ctx.Done() // the answer would let the old conversation go on
		return r, true
	}
	if own.Decided.Mode != "" {
		r.UpdatedPermissions = []Permission{SetMode(string(own.Decided.Mode))}
	}
	return r, true
}

// keepNote keeps what a person said with an interruption: the agent hides it
// from the model.
func (h *Host) keepNote(c *gatelatch.Call) {
	if c.Decided.Note == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	note := fmt.Sprintf("%s was not allowed: %s", c.Tool, c.Decided.Note)
	for _, known := range h.notes {
		if known == note {
			return
		}
	}
	h.notes = append(h.notes, note)
}

func withNotes(notes []string, text string) string {
	if len(notes) == 0 {
		return text
	}
	return "Before, you were interrupted. " + strings.Join(notes, "\n") + "\n\n" + text
}

// UserMessage is what a user says to the agent.
func UserMessage(text string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"type": "user", "message": map[string]string{"role": "user", "content": text}, "parent_tool_use_id": nil, "session_id": "",
	})
}

// explain says why a call is denied that nobody denied.
func explain(err error) string {
	switch {
	case errors.Is(err, gatelatch.ErrPaused), errors.Is(err, gatelatch.ErrSettled):
		return "Denied: " + err.Error()
	case errors.Is(err, gatelatch.ErrOpened), errors.Is(err, gatelatch.ErrConflict):
		return "Denied: this call is decided elsewhere in Gatelatch (" + err.Error() + ")."
	}
	return "Gatelatch could not decide this, so it was denied: " + err.Error()
}

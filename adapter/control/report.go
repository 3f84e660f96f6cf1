package control

import (
	"context"
	"errors"
	"slices"

	"github.com/gatelatch/gatelatch"
)

// ended is told that a call has its result. h.mu is held.
func (h *Host) ended(k string, ok bool) {
	c := h.calls[k]
	if c == nil {
		return
	}
	delete(h.calls, k)
	h.forget(c)
	switch {
	case c.group != nil:
		h.work.Go(func() { h.reportNow(c, ok) })
	case ok && !c.wasAsked && h.opt.Gate:
		h.opt.Notice(Notice{Kind: Unasked, Tool: c.tool, Text: "the agent ran this without asking"})
	}
}

// forget lets go of a message whose calls all have their results. h.mu is held.
func (h *Host) forget(c *call) {
	if c.message == nil {
		return
	}
	c.message.calls = slices.DeleteFunc(c.message.calls, func(o *call) bool { return o == c })
	for _, o := range h.calls {
		if o.message == c.message {
			return
		}
	}
	delete(h.messages, c.message.id)
}

// reportNow tells the gateway how a call went, once. It does not wait for long:
// the call has run.
func (h *Host) reportNow(c *call, ok bool) {
	h.mu.Lock()
	g, ref, session := c.group, c.ref, h.session.ID
	if g == nil || c.reported {
		h.mu.Unlock()
		return
	}
	c.reported = true
	h.mu.Unlock()
	ctx, stop := context.WithTimeout(context.WithoutCancel(h.ctx), byeTime)
	defer stop()
	if err := h.report(ctx, g, ref, session, ok); err != nil && !errors.Is(err, gatelatch.ErrNotFound) {
		h.opt.Notice(Notice{Kind: Reported, Tool: c.tool, Text: "a result could not be reported: " + err.Error()})
	}
}

func (h *Host) report(ctx context.Context, g *group, ref, session string, ok bool) error {
	held := false
	select {
	case <-g.done:
		if g.err != nil && !ok {
			return nil // it was denied, and did not run
		}
		held = g.err == nil && g.batch.Held() && !g.batch.Opened.All
	default:
	}
	if !held {
		// It is known by its own id; one that still waited was answered elsewhere.
		return h.opt.Service.Report(ctx, gatelatch.Report{Session: session, Ref: ref, OK: ok})
	}
	g.turn.Lock()
	defer g.turn.Unlock()
	own := g.call(ref)
	var err error
	if own != nil && g.consumed[own.ID] {
		err = h.opt.Service.Report(ctx, gatelatch.Report{Batch: g.batch.ID, Call: own.ID, Fence: g.batch.Opened.Fence, OK: ok})
	}
	if g.left--; g.left == 0 {
		err = errors.Join(err, h.finish(ctx, g))
	}
	return err
}

// finish ends a batch. What was allowed and not begun is given up.
func (h *Host) finish(ctx context.Context, g *group) error {
	_, err := h.opt.Service.Finish(ctx, gatelatch.Finish{Batch: g.batch.ID, Fence: g.batch.Opened.Fence, Abandon: true})
	return err
}

// turnEnded gives up what the agent's turn left behind, and nothing that it asks
// from now on. Sub-agents that work in the background go on. h.mu is held.
func (h *Host) turnEnded() {
	all := h.running == 0
	left := h.drop(func(c *call) bool { return all || c.agent == "" })
	h.work.Go(func() { h.abandon(left) })
}

// drop lets go of calls that get no result any more, and returns what they were
// asked about with. h.mu is held.
func (h *Host) drop(which func(*call) bool) map[*group]bool {
	groups := map[*group]bool{}
	for k, c := range h.calls {
		if which(c) {
			delete(h.calls, k)
			h.forget(c)
			if c.group != nil && !c.reported {
				groups[c.group] = true
			}
		}
	}
	return groups
}

// abandon ends batches that nobody holds any more.
func (h *Host) abandon(groups map[*group]bool) {
	for g := range groups {
		g.stop(errCancelled)
		<-g.done // withdrawn by then
		if g.err != nil || !g.batch.Held() || g.batch.Opened.All {
			continue
		}
		ctx, stop := context.WithTimeout(context.WithoutCancel(h.ctx), byeTime)
		g.turn.Lock()
		if g.left > 0 {
			g.left = 0
			if err := h.finish(ctx, g); err != nil {
				h.opt.Notice(Notice{Kind: Reported, Text: "a batch could not be ended: " + err.Error()})
			}
		}
		g.turn.Unlock()
		stop()
	}
}

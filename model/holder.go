package model

import "time"

// Hold is how somebody wants to hold a batch.
type Hold struct {
	Holder string
	Lease  time.Duration
	All    bool // use every allow at once
}

// Held reports whether the current phase is held just so.
func (b *Batch) Held(h Hold) bool {
	return b.Fence > 0 && b.Opened == b.Phase && b.Holder == h.Holder && b.All == h.All
}

// Await is for a batch that does not wait. Whoever holds it already is told so,
// whatever happened since.
func (w *World) Await(b *Batch, h Hold) Why {
	if b.Held(h) {
		return nil
	}
	return w.open(b, h)
}

func (w *World) open(b *Batch, h Hold) (why Why) {
	again := b.Held(h)
	back := b.Opened < b.Phase && b.Holder == h.Holder // for the next phase
	why.when(w.Paused && b.any((*Call).permit), "paused")
	if !again {
		why.when(b.Finished, "finished")
		why.when(b.Fence > 0 && !back && (b.All || w.Now < b.Until), "opened")
	}
	if len(why) > 0 {
		return why
	}
	w.takeBack(b, func(*Grant) bool { return true })
	w.tick(b)
	if again {
		return nil
	}
	b.Fence++
	b.Parked = false
	b.Holder, b.Opened, b.All, b.Lease, b.Until = h.Holder, b.Phase, h.All, h.Lease, w.Now+h.Lease
	w.note("batch.opened", b.Agent, b, nil)
	for _, c := range b.Calls {
		if h.All && c.permit() {
			w.begin(c, b.Fence, h.Holder)
		}
	}
	return nil
}

func (w *World) begin(c *Call, fence int64, nonce string) {
	c.Used, c.Fence, c.Nonce = true, fence, nonce
	w.note("call.consumed", c.Batch.Agent, c.Batch, c)
}

// fenced collects what stands against whoever comes with a fence.
func (b *Batch) fenced(why *Why, fence int64) {
	why.when(b.Fence == 0, "waiting")
	why.when(b.Fence != fence || fence == 0, "fenced")
	why.when(b.Finished, "finished")
}

func (w *World) renew(b *Batch) { b.Until = max(b.Until, w.Now+b.Lease) }

// Consume uses an allow for what is about to run.
func (w *World) Consume(c *Call, fence int64, shown, nonce string) (why Why) {
	b := c.Batch
	if w.Paused {
		return Why{"paused"}
	}
	w.takeBack(b, func(*Grant) bool { return true })
	b.fenced(&why, fence)
	why.when(shown != c.Input, "changed")
	if c.Used {
		again := c.Nonce == nonce && c.Fence == fence && c.Outcome == ""
		why.when(!again, "consumed")
		return why
	}
	why.when(b.Opened != b.Phase || b.Waits(), "waiting")
	why.when(c.State != "allowed" || w.Now >= c.Lapses, "settled")
	for _, before := range b.Calls[:c.ID-1] {
		why.when(before.Phase == c.Phase && before.permit(), "order")
	}
	if len(why) == 0 {
		w.renew(b)
		w.begin(c, fence, nonce)
	}
	return why
}

// Report says how a call went: "done" or "failed".
func (w *World) Report(c *Call, fence int64, outcome, result string) (why Why) {
	b := c.Batch
	if c.Outcome == outcome && c.Result == result {
		return nil
	}
	b.fenced(&why, fence)
	why.when(!c.Used, "invalid")
	why.when(c.Outcome != "" && c.Fence != fence, "fenced")
	why.when(c.Outcome != "" && c.Outcome != "unknown", "conflict")
	if len(why) == 0 {
		c.Outcome, c.Result = outcome, result
		w.renew(b)
		w.note("call.reported", b.Agent, b, c)
	}
	return why
}

// Ran says that a host ran a call by itself, whatever it was told.
func (w *World) Ran(c *Call, outcome string) Why {
	b := c.Batch
	switch {
	case b.Fence > 0 && !b.All:
		return Why{"invalid"}
	case c.Outcome != "" && c.Outcome != "unknown":
		return nil
	case c.State == "pending":
		w.settle(c, "withdrawn", b.Agent)
		w.note("call.withdrawn", b.Agent, b, c)
	case c.permit():
		w.begin(c, 0, "")
	}
	c.Outcome, b.Parked = outcome, false
	w.note("call.reported", b.Agent, b, c)
	return nil
}

// Renew keeps the batch.
func (w *World) Renew(b *Batch, fence int64) (why Why) {
	// A lease that was renewed just now stays as it is.
	if b.fenced(&why, fence); len(why) == 0 && w.Now+b.Lease-b.Until >= b.Lease/4 {
		w.renew(b)
		w.note("batch.renewed", b.Agent, b, nil)
	}
	return why
}

// Extend begins a phase with more calls.
func (w *World) Extend(b *Batch, fence int64, asks []Ask) (why Why) {
	if b.Fence == fence && fence > 0 && b.Phase == b.Opened+1 && b.asked(b.Phase, asks) {
		return nil
	}
	b.fenced(&why, fence)
	why.when(b.Opened != b.Phase, "waiting")
	why.when(w.known(b.Agent, b.Session, "", asks) != nil, "conflict")
	if len(why) == 0 {
		b.Phase++
		w.note("batch.extended", b.Agent, b, nil)
		w.add(b, asks, nil, 0)
	}
	return why
}

// Finish ends a batch; abandon gives up what has no result.
func (w *World) Finish(b *Batch, fence int64, abandon bool) (why Why) {
	if b.Finished && b.Fence == fence {
		return nil
	}
	b.fenced(&why, fence)
	why.when(!abandon && b.any(func(c *Call) bool { return c.State == "pending" || c.permit() || c.running() }), "unfinished")
	if len(why) > 0 {
		return why
	}
	for _, c := range b.Calls {
		if c.State == "pending" || c.permit() {
			w.settle(c, "withdrawn", b.Agent)
			w.note("call.withdrawn", b.Agent, b, c)
		}
	}
	w.lose(b, b.Agent)
	b.Finished = true
	w.note("batch.finished", b.Agent, b, nil)
	return nil
}

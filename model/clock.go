package model

import (
	"cmp"
	"slices"
)

// Sweep does what nobody asks for.
func (w *World) Sweep() {
	for _, b := range w.Batches {
		w.tick(b)
	}
	for _, g := range w.changed {
		for _, c := range w.oldestFirst() {
			w.again(c, g)
		}
		for _, b := range w.Batches {
			w.takeBack(b, func(by *Grant) bool { return by == g })
		}
	}
	w.changed = nil
}

func (w *World) oldestFirst() (calls []*Call) {
	for _, b := range w.Batches {
		calls = append(calls, b.Calls...)
	}
	slices.SortStableFunc(calls, func(a, b *Call) int { return cmp.Compare(a.Created, b.Created) })
	return calls
}

// tick tells a batch the time.
func (w *World) tick(b *Batch) {
	for _, c := range b.Calls {
		switch {
		case c.State == "pending" && w.Late(c):
			w.settle(c, "expired", "clock")
			w.note("call.expired", "clock", b, c)
		case c.permit() && w.Now >= c.Lapses:
			w.settle(c, "lapsed", "clock")
			w.note("call.lapsed", "clock", b, c)
		}
	}
	if !b.Waits() && b.Fence > 0 && w.Now >= b.Until {
		w.lose(b, "clock")
	}
}

// lose gives up on what was begun and not reported: it may have run.
func (w *World) lose(b *Batch, by string) {
	for _, c := range b.Calls {
		if c.running() {
			c.Outcome = "unknown"
			w.note("call.reported", by, b, c)
		}
	}
}

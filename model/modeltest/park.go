package modeltest

import (
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model"
)

func parkable(c *model.Call) bool { return pending(c) && len(c.Batch.Calls) == 1 }
func parked(c *model.Call) bool   { return c.Batch.Parked }

func (h *history) park() {
	if b := h.batch(parkable); b != nil {
		deferred := h.chance(2)
		h.agree("park", h.agent(b).Park(h.Context(), h.ids[b.ID-1], deferred), h.world.Park(b, deferred))
	}
}

// askAgain asks for a parked call under another id.
func (h *history) askAgain() {
	b := h.batch(parked)
	if b == nil || len(h.world.Batches) > maxBatches+2 {
		return
	}
	message, c := fmt.Sprint("m", len(h.world.Batches)), b.Calls[0]
	input := c.Asked
	if h.chance(5) {
		input = one(h, inputs...)
	}
	h.send(h.asker(b), b.Session, message, []model.Ask{{Ref: message + "_0", Tool: c.Tool, Input: input}}, one(h, 0, time.Hour))
}

// parkings are those before something happens.
func (h *history) parkings() (out map[*model.Batch]string) {
	out = map[*model.Batch]string{}
	for _, b := range h.world.Batches {
		if b.Parked {
			out[b] = b.Calls[0].State
		}
	}
	return out
}

// taken notes what came of those that b ended.
func (h *history) taken(b *model.Batch, before map[*model.Batch]string) {
	for old, state := range before {
		switch c := b.Calls[0]; {
		case old.Parked:
		case old == b:
			h.seen["the host came back"]++
		default:
			h.shown[c] = h.shown[old.Calls[0]] // the same call has the same digests
			words := map[string]string{"allowed": "an allow", "denied": "a denial", "pending": "a question"}
			if state == c.State {
				h.seen[words[state]+" was taken over"]++
			}
			if state == "pending" && c.Input != c.Asked {
				h.seen["an edited question was taken over"]++
			}
		}
	}
}

func (h *history) leave() {
	b := h.batch(pending)
	if b == nil {
		return
	}
	l := model.Leaving{Subagent: one(h, b.From.Subagent, "sub", ""), All: h.chance(4), Prompt: h.chance(2)}
	waits := h.count(func(c *model.Call) bool { return pending(c) && !parked(c) })
	said, err := h.agent(b).Leave(h.Context(), gatelatch.Leaving{Session: b.Session, Subagent: l.Subagent, All: l.All, Prompt: l.Prompt})
	h.must(err)
	same(h, "what was said", said, h.world.Leave(b.Agent, b.Session, l))
	if said != "" {
		h.seen["said with the next prompt"]++
	}
	if h.count(func(c *model.Call) bool { return pending(c) && !parked(c) }) < waits {
		h.seen["leaving withdrew"]++
	}
	if l.All && b.Parked && b.Waits() {
		h.seen["parked stays"]++
	}
}

func (h *history) count(fits func(*model.Call) bool) (n int) {
	for _, b := range h.world.Batches {
		for _, c := range b.Calls {
			if fits(c) {
				n++
			}
		}
	}
	return n
}

func (h *history) denied() int {
	return h.count(func(c *model.Call) bool { return c.State == "denied" })
}

// unseen is a call that ran and that nobody had asked about.
func (h *history) unseen() {
	who, session := one(h, h.agents[:]...), one(h, "s1", "s2")
	_, err := h.seat(who).Ran(h.Context(), gatelatch.Report{Session: session, Ref: "never", OK: true})
	h.agree("unseen", err, model.Why{"missing"})
	events := len(h.world.Events)
	if h.world.RanUnseen(who.ID, session); len(h.world.Events) > events {
		h.seen["ran unseen"]++
	}
}

// repeated checks that a batch stands for another with the same call, as that
// is shown, once, and that what was decided there was not used.
func (t *Trail) repeated(e gatelatch.Event, d detail) string {
	old, now := t.order[d.Of], t.order[e.Batch]
	switch {
	case len(old) != 1 || len(now) != 1 || old[0].digest != now[0].digest:
		return "Trap 9: it stands for another call"
	case t.again[d.Of]:
		return "I5: another stands for it"
	case old[0].consumed || old[0].outcome != "":
		return "I5: it ran"
	}
	t.again[d.Of] = true
	return ""
}

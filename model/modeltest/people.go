package modeltest

import (
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model"
)

func (h *history) decide() {
	if h.clicked != nil && h.chance(6) {
		h.clicked() // a second click, perhaps at the other gateway
		return
	}
	c := h.call(pending)
	if c == nil {
		return
	}
	who, state, input, note := one(h, mira, otto), one(h, "allowed", "denied", "allowed"), h.input(c), one(h, "", "why")
	var terms model.Terms
	if state == "allowed" && (c.Tool == "plain" || h.chance(4)) {
		terms = model.Terms{
			Scope: one(h, "session", "project", "always"),
			Match: one(h, c.Tool+"(*)", c.Tool+"("+input+")", "other(*)"),
			For:   one(h, 0, 0, time.Minute), Uses: one(h, 0, 0, 1, 2),
		}
	}
	interrupt := state == "denied" && h.chance(2)
	h.clicked = func() { h.decideSo(c, who, state, input, note, terms, interrupt) }
	h.clicked()
}

func (h *history) decideSo(c *model.Call, who gatelatch.Actor, state, input, note string, t model.Terms, interrupt bool) {
	d := gatelatch.Decision{State: gatelatch.State(state), Digest: h.digest(c, input), Note: note, Interrupt: interrupt}
	if t != (model.Terms{}) {
		d.Remember = &gatelatch.Terms{Scope: gatelatch.Scope(t.Scope), Match: t.Match, For: t.For, Uses: t.Uses}
	}
	waited := pending(c)
	atDeadline := waited && c.Deadline == h.world.Now
	grants := len(h.world.Grants)
	b, err := h.seat(who).Decide(h.Context(), h.id(c), d)
	others := h.denied()
	done := h.agree("decide", err, h.world.Decide(c, who.ID, state, input, note, t, interrupt))
	switch {
	case interrupt && h.denied() > others+1:
		h.seen["an interrupt denied another call"]++
	case atDeadline:
		h.seen["decided in the tick of the deadline"]++
	case done && !waited:
		h.seen["the same decision again"]++
	}
	if errors.Is(err, gatelatch.ErrSettled) {
		h.world.TooLate(c)
		h.winner(c, err)
	}
	if len(h.world.Grants) > grants {
		h.grants = append(h.grants, b.Call(h.id(c)).Decided.Grant)
	}
}

// winner checks what a late decider is told.
func (h *history) winner(c *model.Call, err error) {
	var late *gatelatch.SettledError
	if !errors.As(err, &late) || string(late.Decided.State) != c.State || name(late.Decided.By) != c.Settled.By {
		h.Fatalf("a late decision got %q, but the call is %s by %s", err, c.State, c.Settled.By)
	}
}

func (h *history) edit() {
	c := h.call(pending)
	if c == nil {
		return
	}
	shown, input := h.input(c), one(h, `"edited"`, `"b"`, `"evil"`)
	_, err := h.seat(mira).Edit(h.Context(), h.id(c), h.digest(c, shown), []byte(input))
	h.agree("edit", err, h.world.Edit(c, mira.ID, shown, input))
}

func (h *history) revoke() {
	if len(h.grants) == 0 {
		return
	}
	i, who := h.n(len(h.grants)), one(h, mira, otto)
	for k, g := range h.world.Grants { // one that somebody could still use is of more interest
		if !h.chance(4) && h.any(func(c *model.Call) bool { return c.Grant == g && c.State == "allowed" && !c.Used }) {
			i = k
			h.seen["a grant was revoked before its allow was consumed"]++
			break
		}
	}
	_, err := h.seat(who).RevokeGrant(h.Context(), h.grants[i])
	h.must(err)
	h.world.RevokeGrant(h.world.Grants[i], who.ID)
}

func (h *history) pause() {
	if h.world.Paused {
		h.must(h.seat(otto).Unpause(h.Context()))
		h.world.Unpause(otto.ID)
		return
	}
	h.must(h.seat(mira).Pause(h.Context(), "stop"))
	h.world.Pause(mira.ID, "everything was stopped: stop")
	if h.chance(2) {
		h.must(h.seat(otto).Pause(h.Context(), "again"))
	}
}

// intrude is what must never work: another agent's batch, an agent's decision.
func (h *history) intrude() {
	c := h.call(inHand)
	if c == nil {
		return
	}
	b, who, ctx := c.Batch, h.agents[0], h.Context()
	if b.Agent == who.ID {
		who = h.agents[1]
	}
	seat, id, missing, forbidden := h.seat(who), h.ids[b.ID-1], model.Why{"missing"}, model.Why{"forbidden"}
	digest := h.digest(c, c.Input)
	_, err := seat.Consume(ctx, gatelatch.Take{Batch: id, Call: h.id(c), Fence: b.Fence, Digest: digest, Nonce: "n1"})
	h.agree("intrude", err, missing)
	_, err = seat.Await(ctx, id, gatelatch.Hold{Holder: "h1"})
	h.agree("intrude", err, missing)
	_, err = seat.Finish(ctx, gatelatch.Finish{Batch: id, Fence: b.Fence, Abandon: true})
	h.agree("intrude", err, missing)
	h.agree("intrude", seat.Withdraw(ctx, id, ""), missing)
	h.agree("intrude", seat.Report(ctx, gatelatch.Report{Batch: id, Call: h.id(c), Fence: b.Fence, OK: true}), missing)
	_, err = h.agent(b).Decide(ctx, h.id(c), gatelatch.Decision{State: gatelatch.Allowed, Digest: digest})
	h.agree("intrude", err, forbidden)
	_, err = h.agent(b).Edit(ctx, h.id(c), digest, []byte(c.Input))
	h.agree("intrude", err, forbidden)
}

// advance moves the clock: a little, far, back, or exactly to what is due next.
func (h *history) advance() {
	switch h.n(8) {
	case 0, 1:
		h.wall += time.Minute
	case 2:
		h.wall += 20 * time.Minute
	case 3:
		h.wall += 8 * 24 * time.Hour
	case 4:
		h.check() // the store has seen the time before
		h.wall -= time.Hour
	default:
		h.wall += max(0, h.due()-h.world.Now)
	}
	h.tick()
	if h.chance(2) {
		h.sweep(h.gates[h.n(2)])
	}
}

// due is when something is due, by any clock of the model.
func (h *history) due() (next time.Duration) {
	sooner := func(t time.Duration) {
		if t > h.world.Now && (next == 0 || t < next) {
			next = t
		}
	}
	for _, b := range h.world.Batches {
		for _, c := range b.Calls {
			if c.State == "pending" {
				sooner(c.Deadline)
			}
			sooner(c.Lapses)
		}
		sooner(b.Until)
	}
	for _, g := range h.world.Grants {
		sooner(g.Until)
	}
	return next - time.Millisecond*time.Duration(h.n(2)) // each step takes a millisecond
}

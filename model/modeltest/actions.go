package modeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model"
)

// An action is something that somebody does. If no call is such that it makes
// sense, mostly another is done that leads there.
type action struct {
	name   string
	weight int
	do     func(*history)
	sense  func(*model.Call) bool
	before string
}

var actions = []action{
	{"propose", 4, (*history).propose, nil, ""},
	{"propose again", 2, (*history).again, nil, ""},
	{"decide", 6, (*history).decide, pending, "propose"},
	{"edit", 1, (*history).edit, pending, "propose"},
	{"withdraw", 1, (*history).withdraw, pending, "propose"},
	{"await", 4, (*history).await, unopened, "decide"},
	{"consume", 6, (*history).consume, permit, "await"},
	{"report", 4, (*history).report, running, "consume"},
	{"ran", 1, (*history).ran, nil, ""},
	{"renew", 1, (*history).renew, inHand, "await"},
	{"extend", 2, (*history).extend, inHand, "await"},
	{"finish", 2, (*history).finish, inHand, "await"},
	{"revoke grant", 2, (*history).revoke, nil, ""},
	{"pause", 1, (*history).pause, nil, ""},
	{"intrude", 1, (*history).intrude, inHand, "await"},
	{"advance", 3, (*history).advance, nil, ""},
	{"sweep", 2, func(h *history) { h.sweep(h.gates[h.n(2)]) }, nil, ""},
	{"park", 3, (*history).park, parkable, "propose"},
	{"ask again", 3, (*history).askAgain, parked, "park"},
	{"leave", 1, (*history).leave, nil, ""},
	{"unseen", 1, (*history).unseen, nil, ""},
	{"restart", 1, func(h *history) { h.restart(); h.restarted = true }, nil, ""},
}

func pending(c *model.Call) bool { return c.State == "pending" }
func ready(c *model.Call) bool   { return !c.Batch.Waits() && !c.Batch.Finished }
func unopened(c *model.Call) bool {
	return ready(c) && c.Batch.Opened < c.Batch.Phase
}
func inHand(c *model.Call) bool { return c.Batch.Fence > 0 && ready(c) }
func permit(c *model.Call) bool { return inHand(c) && c.State == "allowed" && !c.Used }
func running(c *model.Call) bool {
	return c.Used && (c.Outcome == "" || c.Outcome == "unknown") && !c.Batch.Finished
}

// rotten is an allow whose grant was revoked, and nobody has noticed.
func rotten(c *model.Call) bool { return permit(c) && c.Grant != nil && c.Grant.Revoked }

// next draws an action.
func (h *history) next() action {
	if h.world.Paused && h.chance(4) {
		return named("pause") // which ends it
	}
	if h.any(rotten) && h.chance(2) {
		return named("consume")
	}
	a := actions[lots[h.n(len(lots))]]
	for a.sense != nil && !h.any(a.sense) && !h.chance(6) {
		a = named(a.before)
	}
	return a
}

func named(name string) action {
	return actions[slices.IndexFunc(actions, func(a action) bool { return a.name == name })]
}

// lots holds each action as often as it weighs.
var lots = func() (out []int) {
	for i, a := range actions {
		for range a.weight {
			out = append(out, i)
		}
	}
	return out
}()

const maxBatches = 6

func (h *history) asks(prefix string, most int) (asks []model.Ask) {
	for i := range 1 + h.n(most) {
		a := model.Ask{Ref: fmt.Sprint(prefix, "_", i), Tool: one(h, tools...), Input: inputs[0]}
		if h.chance(3) {
			a.Input = one(h, inputs...)
		}
		if h.chance(8) {
			a.Ref = "" // a host that has no ids
		}
		asks = append(asks, a)
	}
	return asks
}

func (h *history) hold() model.Hold {
	return model.Hold{Holder: one(h, "h1", "h2", "h3"), Lease: one(h, time.Minute, 10*time.Minute), All: h.chance(5)}
}

func hold(m model.Hold) gatelatch.Hold {
	return gatelatch.Hold{Holder: m.Holder, Lease: m.Lease, Consume: m.All}
}

func proposed(asks []model.Ask) (out []gatelatch.ProposedCall) {
	for _, a := range asks {
		out = append(out, gatelatch.ProposedCall{Ref: a.Ref, Kind: gatelatch.Permission, Tool: a.Tool, Input: []byte(a.Input), Dir: "/p"})
	}
	return out
}

func (h *history) propose() {
	if len(h.world.Batches) == maxBatches {
		h.again()
		return
	}
	message := fmt.Sprint("m", len(h.world.Batches))
	h.send(one(h, h.agents[:]...), one(h, "s1", "s2"), message, h.asks(message, one(h, 1, 3)), one(h, 0, 0, time.Minute, time.Hour))
}

// again proposes what is known: as it was, under another message, or changed.
func (h *history) again() {
	b := h.batch(func(*model.Call) bool { return true })
	if b == nil {
		return
	}
	var asks []model.Ask
	for _, c := range b.Calls {
		if c.Phase == 1 {
			asks = append(asks, model.Ask{Ref: c.Ref, Tool: c.Tool, Input: c.Asked})
		}
	}
	message := b.Message
	switch h.n(5) {
	case 2:
		if asks[0].Ref == "" {
			return // nothing ties it to the first message
		}
		message += "_other"
	case 3:
		asks[0].Input = `"other"`
	case 4:
		if b.Calls[len(b.Calls)-1].Ref == "" {
			return
		}
		message += "_other"
		asks = []model.Ask{{Ref: b.Calls[len(b.Calls)-1].Ref, Tool: "allow", Input: `"other"`}}
	}
	h.send(h.asker(b), b.Session, message, asks, 0)
}

func (h *history) send(agent gatelatch.Actor, session, message string, asks []model.Ask, limit time.Duration) {
	known, from := len(h.world.Batches), model.From{Turn: one(h, "", "t1", "t1", "t1"), Subagent: one(h, "", "", "", "sub")}
	p := gatelatch.Proposal{Pair: from.Turn, Subagent: from.Subagent, Session: gatelatch.SessionInfo{ID: session, Project: h.world.Project[session]}, Message: message, Calls: proposed(asks), Limit: limit}
	var m model.Hold
	if h.chance(3) {
		m = h.hold()
		p.Hold = hold(m)
	}
	got, err := h.seat(agent).Propose(h.Context(), p)
	before := h.parkings()
	b, why := h.world.Propose(agent.ID, session, message, from, asks, limit, m)
	if !h.agree("propose", err, why) {
		return
	}
	h.taken(b, before)
	if len(h.world.Batches) > known {
		if h.old[got.ID] {
			h.Fatalf("a new message got the old batch %s", got.ID)
		}
		h.old[got.ID], h.batches[got.ID] = true, b
		h.ids, h.calls = append(h.ids, got.ID), append(h.calls, nil)
	} else if h.seen["found again"]++; h.restarted {
		h.seen["found again after a restart"]++
	}
	if got.ID != h.ids[b.ID-1] {
		h.Fatalf("message %s is batch %s, want %s", message, got.ID, h.ids[b.ID-1])
	}
}

func (h *history) await() {
	b := h.batch(ready)
	if b == nil {
		return
	}
	m := h.hold()
	if b.Waits() {
		ctx, stop := context.WithCancel(h.Context())
		stop()
		if _, err := h.agent(b).Await(ctx, h.ids[b.ID-1], hold(m)); !errors.Is(err, context.Canceled) && !b.Held(m) {
			h.Fatalf("awaiting what waits: %v", err)
		}
		return
	}
	before := *b
	_, err := h.agent(b).Await(h.Context(), h.ids[b.ID-1], hold(m))
	if !h.agree("await", err, h.world.Await(b, m)) {
		return
	}
	switch {
	case b.Fence == before.Fence:
		h.seen["the same holder asked again"]++
	case b.Opened > 1:
		h.seen["a later phase opened"]++
	}
	if b.Fence > before.Fence && before.Fence > 0 && before.Holder != b.Holder {
		h.seen["another holder with a higher fence"]++
	}
}

func (h *history) consume() {
	c := h.call(permit)
	switch {
	case h.any(rotten):
		c = h.call(rotten)
	case h.chance(5):
		c = h.call(running)
	}
	if c == nil {
		return
	}
	b, input, fence, nonce := c.Batch, h.input(c), h.fence(c.Batch), one(h, "n1", "n1", "n2")
	was := c.State
	call, err := h.agent(b).Consume(h.Context(), gatelatch.Take{Batch: h.ids[b.ID-1], Call: h.id(c), Fence: fence, Digest: h.digest(c, input), Nonce: nonce})
	used := c.Used
	done := h.agree("consume", err, h.world.Consume(c, fence, input, nonce))
	switch {
	case done && used:
		h.seen["the same nonce consumed again"]++
	case done && string(call.Input) != c.Input:
		h.Fatalf("consumed with the input %s, want %s", call.Input, c.Input)
	case was == "allowed" && c.State == "revoked":
		h.seen["consuming found the grant revoked"]++
	}
}

func (h *history) report() {
	c := h.call(running)
	if h.chance(5) {
		c = h.call(func(c *model.Call) bool { return c.Outcome != "" && inHand(c) })
	}
	if c == nil {
		return
	}
	b, fence, outcome, result := c.Batch, h.fence(c.Batch), one(h, "done", "failed"), one(h, "", "r1", "r2")
	was := c.Outcome
	err := h.agent(b).Report(h.Context(), gatelatch.Report{Batch: h.ids[b.ID-1], Call: h.id(c), Fence: fence, OK: outcome == "done", Result: []byte(result)})
	if h.agree("report", err, h.world.Report(c, fence, outcome, result)) && was == "unknown" {
		h.seen["a late report replaced unknown"]++
	}
}

func (h *history) ran() {
	c := h.call(func(c *model.Call) bool { return c.Batch.Fence == 0 || c.Batch.All })
	if c == nil || c.Ref == "" {
		return
	}
	outcome, permit := one(h, "done", "failed"), c.State == "allowed" && !c.Used
	err := h.agent(c.Batch).Report(h.Context(), gatelatch.Report{Session: c.Batch.Session, Ref: c.Ref, OK: outcome == "done"})
	if h.agree("ran", err, h.world.Ran(c, outcome)) && permit {
		h.seen["a host ran what nobody had consumed"]++
	}
}

func (h *history) renew() {
	if b := h.batch(inHand); b != nil {
		fence := h.fence(b)
		h.agree("renew", h.agent(b).Renew(h.Context(), h.ids[b.ID-1], fence), h.world.Renew(b, fence))
	}
}

func (h *history) extend() {
	b := h.batch(func(c *model.Call) bool { return inHand(c) && c.Batch.Phase == c.Batch.Opened })
	if b == nil || len(b.Calls) > 6 {
		return
	}
	fence, asks := h.fence(b), h.asks(fmt.Sprint("x", b.ID, "_", b.Phase+h.n(2)), 2)
	if b.Phase > 1 && h.chance(3) { // the same again, as after a lost answer
		asks = nil
		for _, c := range b.Calls {
			if c.Phase == b.Phase {
				asks = append(asks, model.Ask{Ref: c.Ref, Tool: c.Tool, Input: c.Asked})
			}
		}
	}
	_, err := h.agent(b).Extend(h.Context(), h.ids[b.ID-1], fence, proposed(asks))
	phase := b.Phase
	if h.agree("extend", err, h.world.Extend(b, fence, asks)) && b.Phase == phase {
		h.seen["extended by the same again"]++
	}
}

func (h *history) finish() {
	b := h.batch(inHand)
	if b == nil {
		return
	}
	fence, abandon := h.fence(b), h.chance(3)
	got, err := h.agent(b).Finish(h.Context(), gatelatch.Finish{Batch: h.ids[b.ID-1], Fence: fence, Abandon: abandon})
	if h.agree("finish", err, h.world.Finish(b, fence, abandon)) {
		h.results(b, got)
	}
}

func (h *history) withdraw() {
	if b := h.batch(pending); b != nil {
		h.must(h.agent(b).Withdraw(h.Context(), h.ids[b.ID-1], ""))
		h.world.Withdraw(b)
	}
}

// Package model says what an approval gate does, as plainly as possible: one
// world, no store, no transactions, no concurrency. It shares no code with the
// gate, so that a fault would have to be made twice.
package model

import (
	"slices"
	"time"
)

// A World is everything there is. Time is counted from its beginning.
type World struct {
	Rules   Rules
	Project map[string]string // of each session
	Now     time.Duration
	Paused  bool
	Batches []*Batch
	Grants  []*Grant
	Owed    map[[2]string]string // to the next prompt of an agent's session
	Unseen  map[[2]string]bool   // sessions in which something ran unasked
	Events  []Event              // whoever looks at them empties it

	changed []*Grant // made or revoked, and nobody has looked at what that means
}

// Rules are what policy says.
type Rules struct {
	// Judge returns "allow", "deny", "ask" or, if no rule speaks, "". Limit is
	// how long the call may wait, 0 for ever.
	Judge  func(tool, input string) (effect string, limit time.Duration)
	Covers func(match, tool, input string) bool
}

// An Event is one thing that changed. Batch and Call count from 1.
type Event struct {
	Kind, By    string
	Batch, Call int
}

// Why are the reasons for which something was refused; none means that it was
// done. A gate names any one of them.
type Why []string

func (w *Why) when(refuse bool, reason string) {
	if refuse {
		*w = append(*w, reason)
	}
}

// A Batch is the calls of one message, in phases.
type Batch struct {
	ID                      int
	Agent, Session, Message string
	From                    From
	Calls                   []*Call
	Phase                   int
	Finished                bool
	Parked, Deferred        bool // nobody waits; the host comes back for it

	// The last opening; Fence is 0 before the first.
	Fence        int64
	Holder       string
	Opened       int // the phase
	All          bool
	Lease, Until time.Duration
}

// From is where in a session a batch comes from.
type From struct{ Turn, Subagent string }

// A Call is one tool call.
type Call struct {
	Batch                   *Batch
	ID, Phase               int
	Ref, Tool, Asked, Input string // Asked is the input as it came
	EditedBy, EditedFrom    string // the last edit, and the input before it
	State                   string
	Settled                 Settled
	Grant                   *Grant // that allowed it
	Created                 time.Duration
	Deadline, Lapses        time.Duration // 0 is never
	Used                    bool
	Fence                   int64 // with which it was used
	Nonce                   string
	Outcome, Result         string
}

// Settled is how a call was settled. Shown is the input that was decided on.
type Settled struct {
	By, Shown, Note string
	Remember        Terms
	Interrupt       bool
}

// Ask is a call as it is proposed.
type Ask struct{ Ref, Tool, Input string }

func (w *World) note(kind, by string, b *Batch, c *Call) {
	e := Event{Kind: kind, By: by}
	if b != nil {
		e.Batch = b.ID
	}
	if c != nil {
		e.Call = c.ID
	}
	w.Events = append(w.Events, e)
}

func (c *Call) permit() bool  { return c.State == "allowed" && !c.Used }
func (c *Call) running() bool { return c.Used && c.Outcome == "" }

// Late reports whether the time for deciding is over.
func (w *World) Late(c *Call) bool { return c.Deadline > 0 && w.Now >= c.Deadline }

// Waits reports whether a call of the batch is pending.
func (b *Batch) Waits() bool { return b.any(func(c *Call) bool { return c.State == "pending" }) }

func (b *Batch) any(is func(*Call) bool) bool { return slices.ContainsFunc(b.Calls, is) }

// Propose asks for calls. What was asked for before is the same batch; what is
// parked elsewhere in the session is asked again.
func (w *World) Propose(agent, session, message string, from From, asks []Ask, limit time.Duration, h Hold) (*Batch, Why) {
	b := w.known(agent, session, message, asks)
	switch {
	case b == nil:
		old := w.parked(agent, session, asks)
		b = &Batch{ID: len(w.Batches) + 1, Agent: agent, Session: session, Message: message, From: from, Phase: 1}
		w.Batches = append(w.Batches, b)
		w.add(b, asks, old, limit)
		if old != nil {
			w.takeOver(old, b)
		}
	case !b.asked(1, asks):
		return nil, Why{"conflict"}
	}
	parked := b.Parked
	if h.Holder != "" && !b.Waits() {
		if why := w.open(b, h); len(why) > 0 {
			return b, why
		}
	}
	if parked {
		w.back(b)
	}
	return b, nil
}

// known finds the batch of a message or, under another message, of a call.
func (w *World) known(agent, session, message string, asks []Ask) (found *Batch) {
	for _, b := range w.Batches {
		if b.Agent != agent || b.Session != session {
			continue
		}
		if b.Message == message {
			return b
		}
		for _, a := range asks {
			if a.Ref != "" && b.any(func(c *Call) bool { return c.Ref == a.Ref }) {
				found = b
			}
		}
	}
	return found
}

// asked reports whether the phase came with exactly these calls.
func (b *Batch) asked(phase int, asks []Ask) bool {
	var have []Ask
	for _, c := range b.Calls {
		if c.Phase == phase {
			have = append(have, Ask{c.Ref, c.Tool, c.Asked})
		}
	}
	return slices.Equal(have, asks)
}

// add judges calls and puts them into the current phase. All of them are judged
// before the first uses up a grant. One that was parked comes as it was edited.
func (w *World) add(b *Batch, asks []Ask, parked *Batch, limit time.Duration) {
	by, inputs := make([]*Grant, len(asks)), make([]string, len(asks))
	for i, a := range asks {
		if inputs[i] = a.Input; parked != nil {
			inputs[i] = parked.Calls[0].Input
		}
		if effect, _ := w.Rules.Judge(a.Tool, inputs[i]); effect == "" && !w.Paused {
			by[i] = w.newestFor(b, a.Tool, inputs[i])
		}
	}
	for i, a := range asks {
		c := &Call{Batch: b, ID: len(b.Calls) + 1, Phase: b.Phase, Ref: a.Ref, Tool: a.Tool, Asked: a.Input, Input: inputs[i], State: "pending", Created: w.Now}
		b.Calls = append(b.Calls, c)
		effect, soon := w.Rules.Judge(a.Tool, inputs[i])
		for _, l := range []time.Duration{limit, soon} {
			if l > 0 && (c.Deadline == 0 || w.Now+l < c.Deadline) {
				c.Deadline = w.Now + l
			}
		}
		w.note("call.proposed", b.Agent, b, c)
		w.note("call.judged", "policy", b, c)
		switch {
		case w.Paused || effect == "deny":
			w.settle(c, "denied", "policy")
		case effect == "allow":
			w.settle(c, "allowed", "policy")
		case by[i] != nil && w.good(by[i]):
			w.use(c, by[i])
		}
	}
}

// settle moves a call. Who ran the phase before gets a whole lease to come
// back for the one that is complete now.
func (w *World) settle(c *Call, state, by string) {
	b, waited := c.Batch, c.State == "pending"
	c.State, c.Settled, c.Grant, c.Lapses = state, Settled{By: by, Shown: c.Input}, nil, 0
	if state == "allowed" {
		c.Lapses = w.Now + 7*24*time.Hour
	}
	if waited && b.Fence > 0 && b.Opened < b.Phase && !b.Waits() {
		b.Until = w.Now + b.Lease
	}
}

// Withdraw takes back what waits.
func (w *World) Withdraw(b *Batch) {
	for _, c := range b.Calls {
		if c.State == "pending" {
			w.settle(c, "withdrawn", b.Agent)
			w.note("call.withdrawn", b.Agent, b, c)
		}
	}
}

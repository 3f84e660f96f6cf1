package gatelatch

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/internal/twin"
	"github.com/gatelatch/gatelatch/redact"
)

// A Batch holds the calls that one model message produced. It is the unit that
// is saved, and the latch: see docs/adr/0001.
type Batch struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent"` // id of the key that proposed it
	AgentName string    `json:"agent_name"`
	Session   string    `json:"session"`            // the agent's own id for its session
	Message   string    `json:"message"`            // the agent's own id for the message; proposing it twice is one batch
	Pair      Sum       `json:"pair"`               // finds the batch for a host that repeats a call without naming it
	Claimed   string    `json:"claimed,omitempty"`  // holder of the repetition that found it by Pair
	Turn      string    `json:"turn,omitempty"`     // of the host: batches of one belong together
	Subagent  string    `json:"subagent,omitempty"` // id of the one that asks, if it is not the main agent
	Parked    *Parking  `json:"parked,omitempty"`   // nobody waits for the answer at present
	Left      time.Time `json:"left,omitzero"`      // since when nobody waits for the answer, and nobody said why
	Context   Context   `json:"context"`
	Calls     []*Call   `json:"calls"`
	Created   time.Time `json:"created"`
	Phase     int       `json:"phase"`             // from 1; a permission found while running begins the next
	Opened    *Opening  `json:"opened,omitempty"`  // the last; it is over when a new phase begins
	Finished  time.Time `json:"finished,omitzero"` // the agent went on with the results

	Version int64 `json:"-"` // kept by the store: what the next save must find

	events []Event
}

// Context is what the host told about the moment of the proposal. It is shown
// as foreign text and never believed.
type Context struct {
	Prompt string `json:"prompt,omitempty"` // what the user asked for
	Said   string `json:"said,omitempty"`   // what the agent said last
	Via    string `json:"via,omitempty"`    // for a sub-agent: who started it, and for what
}

// Events returns what happened to the batch since it was last saved. A store
// writes them in the transaction that saves the batch and calls Saved only
// after the commit, so that a failed commit loses none.
func (b *Batch) Events() []Event { return b.events }

// Saved forgets the first n events, and notes the version that was written.
func (b *Batch) Saved(n int, version int64) { b.events, b.Version = b.events[n:], version }

// usualEvents is what a call that policy settles has.
const usualEvents = 4

func (b *Batch) record(kind EventKind, call string, by Actor, at time.Time, body any) {
	if b.events == nil {
		b.events = make([]Event, 0, usualEvents)
	}
	b.events = append(b.events, Event{Kind: kind, By: by, At: at, Batch: b.ID, Call: call, Body: eventBody(body)})
}

func eventBody(body any) json.RawMessage {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("gatelatch: event body: %v", err)) // bodies are our own types
	}
	return raw
}

// Call returns the call with the given id, or nil.
func (b *Batch) Call(id string) *Call {
	for _, c := range b.Calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Ready reports whether every call is settled. An empty batch never is.
func (b *Batch) Ready() bool {
	for _, c := range b.Calls {
		if !c.State.Settled() && twin.Is != "runs_while_waiting" {
			return false
		}
	}
	return len(b.Calls) > 0
}

// Claim ties the batch to one repetition of its call, so that two that look
// alike never wait on the same one.
func (b *Batch) Claim(holder string, by Actor, at time.Time) error {
	switch {
	case b.Claimed == holder:
		return nil
	case b.Claimed != "":
		return ErrOpened
	}
	b.Claimed = holder
	b.record(BatchClaimed, "", by, at, struct{}{})
	return nil
}

// suggest takes over what the repetition of a waiting call would like to be
// remembered.
func (b *Batch) suggest(matches []string, by Actor, at time.Time) {
	if c := b.Calls[0]; c.State == Pending && len(c.Suggests) == 0 && len(matches) > 0 {
		c.Suggests = matches
		b.record(CallSuggested, c.ID, by, at, struct{}{})
	}
}

// Gone reports whether a call ended without anybody's decision: asking again
// is then a new question.
func (b *Batch) Gone() bool {
	for _, c := range b.Calls {
		if c.State == Withdrawn || c.State == Expired || c.State == Lapsed {
			return true
		}
	}
	return false
}

// Index returns what a store finds the batch by.
func (b *Batch) Index() Index {
	x := Index{Opened: b.Opened != nil}
	last := b.Finished
	sooner := func(t time.Time) {
		if !t.IsZero() && (x.Due.IsZero() || t.Before(x.Due)) {
			x.Due = t
		}
	}
	over := b.Ready()
	for _, c := range b.Calls {
		switch {
		case c.State == Pending:
			sooner(c.Deadline)
		case c.permit():
			x.Permits, over = true, false
			sooner(c.Lapses)
		case c.running():
			over = false
			if b.Ready() {
				sooner(b.Opened.Until)
			}
		case c.Outcome != nil:
			last = later(last, c.Outcome.At)
		case c.Decided != nil:
			last = later(last, c.Decided.At)
		}
	}
	if over {
		x.Over = last
	}
	return x
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// digest binds a decision to everything that was shown. Adding a field is a
// new version of the domain name: an old digest must not match it.
func (b *Batch) digest(c *Call) Sum {
	fields := [...][]byte{[]byte(b.Agent), []byte(b.Session), []byte(c.Kind), []byte(c.Tool), c.Input, []byte(c.Dir), nil}
	if c.Bound == nil {
		return SumFields("gatelatch.action.v1", fields[:len(fields)-1]...)
	}
	bound := c.Bound.digest()
	fields[len(fields)-1] = bound[:]
	return SumFields("gatelatch.action.v2", fields[:]...)
}

// Propose adds a call. Its state is pending from the first moment.
func (b *Batch) Propose(c *Call, by Actor, at time.Time) {
	b.Phase = max(b.Phase, 1)
	c.State, c.Decided, c.Phase = Pending, nil, b.Phase
	c.InputSum = SumOf(c.Input)
	c.Digest = b.digest(c)
	b.Calls = append(b.Calls, c)
	b.record(CallProposed, c.ID, by, at, struct {
		Ref      string `json:"ref,omitempty"`
		Tool     string `json:"tool"`
		Input    Sum    `json:"input"`
		Proposed Sum    `json:"proposed"`
		Digest   Sum    `json:"digest"`
	}{c.Ref, redact.Text(c.Tool), c.InputSum, c.Proposed, c.Digest})
}

// Judge gives a waiting call its verdict and settles it unless the verdict is
// Ask. A settled call keeps what it has.
func (b *Batch) Judge(c *Call, v Verdict, at time.Time) error {
	if c.State.Settled() {
		return fmt.Errorf("call %s is %s: %w", c.ID, c.State, ErrSettled)
	}
	c.Verdict = v
	by := Actor{Kind: PolicyActor}
	for _, r := range v.Reasons {
		if r.Effect == v.Effect {
			by.Name = r.Rule
			break
		}
	}
	switch v.Effect {
	case Allow:
		c.State = Allowed
	case Ask:
		c.State = Pending
	default:
		c.State = Denied
	}
	if v.Limit > 0 && (c.Deadline.IsZero() || at.Add(v.Limit).Before(c.Deadline)) {
		c.Deadline = at.Add(v.Limit)
	}
	if c.State != Pending {
		b.decided(c, Decision{State: c.State, By: by, At: at, Note: v.Denial(), Digest: c.Digest, Grant: v.Grant})
	}
	b.record(CallJudged, c.ID, by, at, struct {
		Effect  Effect   `json:"effect"`
		Digest  Sum      `json:"digest"`
		Policy  string   `json:"policy,omitempty"`
		Grant   string   `json:"grant,omitempty"`
		Reasons []Reason `json:"reasons,omitempty"`
	}{v.Effect, c.Digest, v.Policy, v.Grant, withoutParts(v.Reasons)})
	return nil
}

// withoutParts leaves pieces of the input out of the trail: it must stay
// readable after an input was redacted.
func withoutParts(rs []Reason) []Reason {
	out := make([]Reason, len(rs))
	for i, r := range rs {
		r.Part, r.Message = "", ""
		out[i] = r
	}
	return out
}

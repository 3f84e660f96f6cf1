package gatelatch

import (
	"encoding/json"
	"fmt"
	"time"
)

// A Batch holds the calls that one model message produced. It is the unit that
// is saved, and the latch: see docs/adr/0001.
type Batch struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent"` // id of the key that proposed it
	AgentName string    `json:"agent_name"`
	Session   string    `json:"session"`           // the agent's own id for its session
	Message   string    `json:"message"`           // the agent's own id for the message; proposing it twice is one batch
	Pair      Sum       `json:"pair"`              // finds the batch for a host that repeats a call without naming it
	Claimed   string    `json:"claimed,omitempty"` // holder of the repetition that found it by Pair
	Context   Context   `json:"context"`
	Calls     []*Call   `json:"calls"`
	Created   time.Time `json:"created"`
	Opened    *Opening  `json:"opened,omitempty"`

	Version int64 `json:"-"` // kept by the store: what the next save must find

	events []Event
}

// Context is what the host told about the moment of the proposal. It is shown
// as foreign text and never believed.
type Context struct {
	Prompt string `json:"prompt,omitempty"` // what the user asked for
	Said   string `json:"said,omitempty"`   // what the agent said last
}

// An Opening says who took the batch. Holder is a nonce made for one attempt,
// so that two processes of one session never both hold it.
type Opening struct {
	Holder string    `json:"holder"`
	Fence  int64     `json:"fence"`
	At     time.Time `json:"at"`
}

// Events returns what happened to the batch since it was last saved. A store
// writes them in the transaction that saves the batch and calls Saved only
// after the commit, so that a failed commit loses none.
func (b *Batch) Events() []Event { return b.events }

// Saved forgets the first n events, and notes the version that was written.
func (b *Batch) Saved(n int, version int64) { b.events, b.Version = b.events[n:], version }

func (b *Batch) record(kind EventKind, call string, by Actor, at time.Time, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("gatelatch: event %s: %v", kind, err)) // bodies are our own types
	}
	b.events = append(b.events, Event{Kind: kind, By: by, At: at, Batch: b.ID, Call: call, Body: raw})
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
		if !c.State.Settled() {
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

// Gone reports whether a call ended without anybody's decision: asking again
// is then a new question.
func (b *Batch) Gone() bool {
	for _, c := range b.Calls {
		if c.State == Withdrawn || c.State == Expired {
			return true
		}
	}
	return false
}

// digest binds a decision to everything that was shown. Adding a field is a
// new version of the domain name: an old digest must not match it.
func (b *Batch) digest(c *Call) Sum {
	return SumFields("gatelatch.action.v1",
		[]byte(b.Agent), []byte(b.Session), []byte(c.Kind), []byte(c.Tool), c.Input, []byte(c.Dir))
}

// Propose adds a call. Its state is pending from the first moment.
func (b *Batch) Propose(c *Call, by Actor, at time.Time) {
	c.State, c.Decided = Pending, nil
	c.InputSum = SumOf(c.Input)
	c.Digest = b.digest(c)
	b.Calls = append(b.Calls, c)
	b.record(CallProposed, c.ID, by, at, struct {
		Ref      string `json:"ref,omitempty"`
		Tool     string `json:"tool"`
		Input    Sum    `json:"input"`
		Proposed Sum    `json:"proposed"`
		Digest   Sum    `json:"digest"`
	}{c.Ref, c.Tool, c.InputSum, c.Proposed, c.Digest})
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
	if c.State != Pending {
		c.Decided = &Decision{State: c.State, By: by, At: at, Note: v.Denial(), Digest: c.Digest}
	}
	b.record(CallJudged, c.ID, by, at, struct {
		Effect  Effect   `json:"effect"`
		Digest  Sum      `json:"digest"`
		Policy  string   `json:"policy,omitempty"`
		Reasons []Reason `json:"reasons,omitempty"`
	}{v.Effect, c.Digest, v.Policy, withoutParts(v.Reasons)})
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

// Decide settles a waiting call by a person's decision. The first one wins;
// asking for the same again is harmless, anything else gets a *SettledError.
func (b *Batch) Decide(callID string, d Decision) error {
	c := b.Call(callID)
	switch {
	case c == nil:
		return fmt.Errorf("call %s: %w", callID, ErrNotFound)
	case d.State != Allowed && d.State != Denied:
		return invalid("a decision is allowed or denied, not %q", d.State)
	case c.State.Settled() && c.Decided != nil && d.same(*c.Decided):
		return nil
	case c.State.Settled():
		return settled(c)
	case d.Digest != c.Digest:
		return fmt.Errorf("call %s: %w", callID, ErrChanged)
	case len(d.Answers) > 0 && (c.Kind != Question || d.State != Allowed):
		return invalid("answers go with allowing a question")
	}
	if c.Kind == Question && d.State == Allowed {
		if err := c.answered(d.Answers); err != nil {
			return err
		}
	}
	return b.settle(c, CallDecided, d)
}

// Revoke takes back what was allowed, while nobody holds the batch: what its
// holder was told can't be unsaid.
func (b *Batch) Revoke(by Actor, why string, at time.Time) error {
	if b.Opened != nil {
		return ErrOpened
	}
	for _, c := range b.Calls {
		if c.State == Allowed {
			d := Decision{State: Revoked, By: by, At: at, Note: why, Digest: c.Digest}
			b.move(c, CallRevoked, d)
		}
	}
	return nil
}

// Expire settles a waiting call whose deadline has passed. A call without a
// deadline never expires.
func (b *Batch) Expire(callID string, at time.Time) error {
	c := b.Call(callID)
	switch {
	case c == nil:
		return fmt.Errorf("call %s: %w", callID, ErrNotFound)
	case c.State.Settled():
		return settled(c)
	case c.Deadline.IsZero() || at.Before(c.Deadline):
		return invalid("call %s has not reached a deadline", callID)
	}
	return b.settle(c, CallExpired, Decision{State: Expired, By: Actor{Kind: ClockActor}, At: at, Digest: c.Digest})
}

// Withdraw settles every call that still waits, because the agent no longer asks.
func (b *Batch) Withdraw(by Actor, why string, at time.Time) error {
	for _, c := range b.Calls {
		if c.State.Settled() {
			continue
		}
		d := Decision{State: Withdrawn, By: by, At: at, Note: why, Digest: c.Digest}
		if err := b.settle(c, CallWithdrawn, d); err != nil {
			return err
		}
	}
	return nil
}

func (b *Batch) settle(c *Call, kind EventKind, d Decision) error {
	if c.State != Pending {
		return settled(c)
	}
	b.move(c, kind, d)
	return nil
}

func (b *Batch) move(c *Call, kind EventKind, d Decision) {
	c.State, c.Decided = d.State, &d
	b.record(kind, c.ID, d.By, d.At, struct {
		State  State  `json:"state"`
		Digest Sum    `json:"digest"`
		Note   string `json:"note,omitempty"`
	}{d.State, d.Digest, d.Note})
}

func settled(c *Call) error {
	e := &SettledError{Call: c.ID, Decided: Decision{State: c.State}}
	if c.Decided != nil {
		e.Decided = *c.Decided
	}
	return e
}

// Open opens the latch for holder. It succeeds once; asking again as the same
// holder is harmless, so that a lost answer can be asked for again.
func (b *Batch) Open(holder string, by Actor, at time.Time) error {
	switch {
	case holder == "":
		return invalid("opening a batch needs a holder")
	case !b.Ready():
		return ErrWaiting
	case b.Opened != nil && b.Opened.Holder == holder:
		return nil
	case b.Opened != nil:
		return ErrOpened
	}
	b.Opened = &Opening{Holder: holder, Fence: 1, At: at}
	b.record(BatchOpened, "", by, at, struct {
		Fence int64 `json:"fence"`
	}{b.Opened.Fence})
	return nil
}

// Report notes that the agent ran a call. A call that was still waiting ran
// because somebody answered in the agent's own dialog: it is withdrawn.
func (b *Batch) Report(callID string, ok bool, by Actor, at time.Time) error {
	c := b.Call(callID)
	if c == nil {
		return fmt.Errorf("call %s: %w", callID, ErrNotFound)
	}
	if c.Outcome != nil {
		return nil
	}
	if c.State == Pending {
		d := Decision{State: Withdrawn, By: by, At: at, Note: "answered in the agent's own dialog", Digest: c.Digest}
		if err := b.settle(c, CallWithdrawn, d); err != nil {
			return err
		}
	}
	c.Outcome = &Outcome{OK: ok, At: at}
	b.record(CallReported, c.ID, by, at, struct {
		OK    bool  `json:"ok"`
		State State `json:"state"`
	}{ok, c.State})
	return nil
}

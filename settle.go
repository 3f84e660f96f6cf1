package gatelatch

import (
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/internal/twin"
)

// PermitLife is how long an allow waits for somebody to come for it.
const PermitLife = 7 * 24 * time.Hour

// Decide settles a waiting call by a person's decision. The first one wins;
// asking for the same again is harmless, anything else gets a *SettledError.
func (b *Batch) Decide(callID string, d Decision) error {
	if err := d.check(); err != nil {
		return err
	}
	c := b.Call(callID)
	switch {
	case c == nil:
		return fmt.Errorf("call %s: %w", callID, ErrNotFound)
	case c.State.Settled() && c.Decided != nil && d.same(*c.Decided):
		return nil
	case c.State.Settled() && twin.Is != "last_decision_wins":
		return settled(c)
	case c.late(d.At):
		return &SettledError{Call: c.ID, Decided: c.expired(d.At)}
	case d.Digest != c.Digest && twin.Is != "digest_ignored":
		return fmt.Errorf("call %s: %w", callID, ErrChanged)
	}
	if err := d.suits(c); err != nil {
		return err
	}
	b.move(c, CallDecided, d)
	return nil
}

// Edit replaces the input of a waiting call, by a person. The call gets a new
// digest and verdict and goes on waiting: it has to be shown again. What a rule
// denies can't be edited in.
func (b *Batch) Edit(callID string, from Sum, input []byte, v Verdict, bound *Bound, by Actor, at time.Time) error {
	c := b.Call(callID)
	switch {
	case c == nil:
		return fmt.Errorf("call %s: %w", callID, ErrNotFound)
	case c.State.Settled():
		return settled(c)
	case c.late(at):
		return &SettledError{Call: c.ID, Decided: c.expired(at)}
	case c.Edited != nil && c.Edited.From == from && c.Edited.By == by && c.InputSum == SumOf(input):
		return nil // the answer was lost
	case from != c.Digest:
		return fmt.Errorf("call %s: %w", callID, ErrChanged)
	case c.Kind == Question:
		return invalid("a question is answered, not edited")
	case v.Effect == Deny:
		return invalid("a rule denies the edited input: %s", v.Denial())
	}
	c.Input, c.InputSum, c.Verdict, c.Bound = input, SumOf(input), v, bound
	c.Digest = b.digest(c)
	c.Edited = &Edit{By: by, At: at, From: from}
	b.record(CallEdited, c.ID, by, at, struct {
		From   Sum    `json:"from"`
		Digest Sum    `json:"digest"`
		Input  Sum    `json:"input"`
		Effect Effect `json:"effect"`
		Policy string `json:"policy,omitempty"`
	}{from, c.Digest, c.InputSum, v.Effect, v.Policy})
	return nil
}

// Revoke takes back every allow that was not consumed: what has begun to run
// can't be unsaid.
func (b *Batch) Revoke(by Actor, why string, at time.Time) {
	b.RevokeGrant("", by, why, at)
}

// RevokeGrant takes back what a grant allowed, if nobody consumed it.
func (b *Batch) RevokeGrant(grant string, by Actor, why string, at time.Time) {
	for _, c := range b.Calls {
		if c.permit() && (grant == "" || c.Decided.Grant == grant && c.Decided.By.Kind == PolicyActor) {
			b.move(c, CallRevoked, Decision{State: Revoked, By: by, At: at, Note: why, Digest: c.Digest})
		}
	}
}

// Withdraw settles every call that still waits, because the agent no longer asks.
func (b *Batch) Withdraw(by Actor, why string, at time.Time) {
	for _, c := range b.Calls {
		if c.State == Pending {
			b.move(c, CallWithdrawn, Decision{State: Withdrawn, By: by, At: at, Note: why, Digest: c.Digest})
		}
	}
}

// Tick does what the clock demands at a time: calls expire, allows lapse, and
// what a holder whose lease is over began but never reported is unknown.
func (b *Batch) Tick(at time.Time) {
	clock := Actor{Kind: ClockActor}
	for _, c := range b.Calls {
		switch {
		case c.State == Pending && c.late(at):
			b.move(c, CallExpired, c.expired(at))
		case c.permit() && !at.Before(c.Lapses):
			b.move(c, CallLapsed, Decision{State: Lapsed, By: clock, At: at, Digest: c.Digest})
		}
	}
	if b.Ready() && b.Opened != nil && b.Opened.over(at) {
		b.lose(clock, at)
	}
}

// Restore makes sure that a copy of the batch revives nothing: what waited was
// perhaps decided since, and what was allowed perhaps consumed.
func (b *Batch) Restore(by Actor, at time.Time) {
	const why = "the gateway was restored from a backup"
	if twin.Is == "backup_revives" {
		return
	}
	b.Withdraw(by, why, at)
	for _, c := range b.Calls {
		if c.permit() {
			b.move(c, CallLapsed, Decision{State: Lapsed, By: by, At: at, Note: why, Digest: c.Digest})
		}
	}
	b.lose(by, at)
}

func (c *Call) late(at time.Time) bool { return !c.Deadline.IsZero() && !at.Before(c.Deadline) }

func (c *Call) expired(at time.Time) Decision {
	if twin.Is == "timeout_allows" {
		return Decision{State: Allowed, By: Actor{Kind: ClockActor}, At: at, Digest: c.Digest}
	}
	return Decision{State: Expired, By: Actor{Kind: ClockActor}, At: at, Digest: c.Digest}
}

func (b *Batch) move(c *Call, kind EventKind, d Decision) {
	if twin.Is == "raw_on_deny" && d.State == Denied {
		d.Note += " " + string(c.Input)
	}
	b.decided(c, d)
	b.record(kind, c.ID, d.By, d.At, struct {
		State     State      `json:"state"`
		Digest    Sum        `json:"digest"`
		Note      string     `json:"note,omitempty"`
		Interrupt bool       `json:"interrupt,omitempty"`
		Grant     string     `json:"grant,omitempty"`
		Signed    *Signature `json:"signed,omitempty"`
	}{d.State, d.Digest, d.Note, d.Interrupt, d.Grant, d.Signed})
}

// decided notes how c was settled. When the last that waited is, who ran the
// phase before gets the time of a whole lease to come back for this one.
func (b *Batch) decided(c *Call, d Decision) {
	waited := c.Decided == nil
	c.State, c.Decided, c.Lapses = d.State, &d, time.Time{}
	if d.State == Allowed {
		c.Lapses = d.At.Add(PermitLife)
	}
	if waited && b.Opened != nil && b.Opened.Phase < b.Phase && b.Ready() {
		b.Opened.Until = d.At.Add(b.Opened.Lease)
	}
}

func settled(c *Call) error {
	e := &SettledError{Call: c.ID, Decided: Decision{State: c.State}}
	if c.Decided != nil {
		e.Decided = *c.Decided
	}
	return e
}

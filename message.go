package gatelatch

import (
	"crypto/subtle"
	"fmt"
	"strconv"
	"time"
)

// MessageKind says what a message tells people.
type MessageKind string

// Kinds of message.
const (
	AskedMessage    MessageKind = "asked"    // a call waits for a person
	ReminderMessage MessageKind = "reminder" // it still does
	SettledMessage  MessageKind = "settled"  // it no longer does: takes back what was said before
)

// MessageState is where a message stands.
type MessageState string

// States of a message.
const (
	MessageWaiting MessageState = "waiting"
	MessageSent    MessageState = "sent"
	MessageDropped MessageState = "dropped" // nobody needs it any more
	MessageDead    MessageState = "dead"    // it can't be delivered
)

// A Message is something to tell people about a call by one channel, or that was
// told. It is made in a transaction and sent outside of one, by whichever gateway
// claims it: perhaps twice, never in silence.
type Message struct {
	ID      string       `json:"id"` // follows from what it tells and where, so that it is made once
	Kind    MessageKind  `json:"kind"`
	Round   int          `json:"round,omitempty"` // of reminders, from 1
	Channel string       `json:"channel"`
	Call    string       `json:"call"`
	State   MessageState `json:"state"`
	At      time.Time    `json:"at"`
	Due     time.Time    `json:"due,omitzero"`      // while it waits: when somebody has to look at it
	Claimed string       `json:"claimed,omitempty"` // who sends it at present, until Due
	Tries   int          `json:"tries,omitempty"`
	Sent    time.Time    `json:"sent,omitzero"`
	Error   string       `json:"error,omitempty"` // of the last try

	// What its buttons decide by, once it is on its way: the hashes of two
	// secrets, the digest of what was asked, and until when.
	Digest  Sum       `json:"digest,omitzero"`
	Allows  Sum       `json:"allows,omitzero"`
	Denies  Sum       `json:"denies,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"used,omitzero"`

	// Forgotten has the store delete it.
	Forgotten bool `json:"-"`

	Version int64 `json:"-"`
}

// A MessageQuery selects messages, the newest first, or those of one call.
type MessageQuery struct {
	Call   string
	Before time.Time // made before; then the oldest first
	Limit  int
}

// A Cursor is how far a reader of the trail has come.
type Cursor struct {
	Name string `json:"name"`
	Seq  Seq    `json:"seq"`

	Version int64 `json:"-"`
}

// NewMessage makes one that is due at a time.
func NewMessage(kind MessageKind, round int, channel, call string, at, due time.Time) *Message {
	sum := SumFields("gatelatch.message.v1", []byte(kind), []byte(strconv.Itoa(round)), []byte(channel), []byte(call))
	return &Message{ID: "msg_" + sum.String()[:32], Kind: kind, Round: round, Channel: channel, Call: call, State: MessageWaiting, At: at, Due: due}
}

// Claim makes it the holder's to send until the lease is over. Whoever dies with
// it leaves it to the next.
func (m *Message) Claim(holder string, lease time.Duration, now time.Time) error {
	if m.State != MessageWaiting || m.Due.Truncate(time.Microsecond).After(now) {
		return fmt.Errorf("message %s is %s: %w", m.ID, m.State, ErrStale)
	}
	m.Claimed, m.Due = holder, now.Add(lease)
	m.Tries++
	return nil
}

// Delivered ends it well.
func (m *Message) Delivered(now time.Time) {
	m.State, m.Sent, m.Due, m.Claimed, m.Error = MessageSent, now, time.Time{}, "", ""
}

// Failed has it sent again after a time, or never.
func (m *Message) Failed(why string, again time.Duration, now time.Time) {
	m.Error, m.Claimed, m.Due = why, "", now.Add(again)
	if again <= 0 {
		m.State, m.Due = MessageDead, time.Time{}
	}
}

// Drop ends one that nobody needs any more.
func (m *Message) Drop() { m.State, m.Due, m.Claimed = MessageDropped, time.Time{}, "" }

// Later moves one that was not begun.
func (m *Message) Later(due time.Time) { m.Due = due }

// Pressed returns the decision whose secret this is. Each message decides once.
func (m *Message) Pressed(secret []byte, now time.Time) (State, error) {
	hash := SumOf(secret)
	var state State
	for _, b := range []struct {
		hash  Sum
		state State
	}{{m.Allows, Allowed}, {m.Denies, Denied}} {
		if b.hash != (Sum{}) && subtle.ConstantTimeCompare(b.hash[:], hash[:]) == 1 {
			state = b.state
		}
	}
	switch {
	case state == "":
		return "", fmt.Errorf("button: %w", ErrNotFound)
	case !m.Used.IsZero():
		return "", fmt.Errorf("the button was pressed before: %w", ErrConflict)
	case !now.Before(m.Expires):
		return "", fmt.Errorf("the button is too old, open the page: %w", ErrForbidden)
	}
	m.Used = now
	return state, nil
}

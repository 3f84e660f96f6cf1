// Package notify tells people that a call waits for them, by the channels that
// the configuration names, and takes it back when the call no longer waits.
//
// What to tell is derived from the trail of events into messages in the store,
// which survive a crash and are sent once by several gateways: see Outbox.
// Nothing here is in the way of a decision.
package notify

import (
	"context"
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
)

// TestKind is the kind of a notice that only tries a channel.
const TestKind gatelatch.MessageKind = "test"

// A Notice is one message, ready to be sent. Texts that an agent wrote are
// escaped and short.
type Notice struct {
	ID      string // the same however often it is sent
	Thread  string // the same for all that is said about one call by one channel
	Kind    gatelatch.MessageKind
	Round   int // of reminders
	Call    string
	Title   string
	Text    string // without the link
	Tool    string
	Agent   string
	Project string
	Risk    Risk
	Link    string // to the page, where one has to log in
	At      time.Time
	Outcome string // of a call that was settled: allowed, denied, …
	By      string // who settled it
	Input   string // masked, and only if the channel asked for it

	// Allow and Deny are the secrets of its buttons, "" if it has none.
	Allow, Deny string
}

// A Channel is one way to reach people. Send returns when the notice is
// delivered to whoever passes it on.
type Channel interface {
	Send(ctx context.Context, n Notice) error
}

// A Target is a channel of the configuration.
type Target struct {
	Channel
	Name string
	Type string
	// Settled says that it takes back what it said, or says how it ended.
	Settled bool
	Input   bool   // notices hold the input of the call
	Buttons bool   // notices may decide
	Person  string // who is at the other end, for the trail
}

// PermanentError is a failure that trying again can't mend.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }
func (e *PermanentError) Unwrap() error { return e.Err }

func permanent(err error) error { return &PermanentError{err} }

// BusyError is a failure with the time after which to try again.
type BusyError struct {
	Err   error
	After time.Duration
}

func (e *BusyError) Error() string { return e.Err.Error() }
func (e *BusyError) Unwrap() error { return e.Err }

var errNoChannel = errors.New("this gateway has no channel of that name")

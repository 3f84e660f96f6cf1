package gatelatch

import (
	"time"
)

// State is where a call stands. A call leaves Pending once and never returns;
// an allow may still be taken back until it is consumed. Any other word, the
// empty one included, counts as not settled.
type State string

// States of a call.
const (
	Pending   State = "pending"
	Allowed   State = "allowed"
	Denied    State = "denied"
	Expired   State = "expired"   // nobody decided in time
	Withdrawn State = "withdrawn" // by the agent
	Revoked   State = "revoked"   // was allowed, and taken back
	Lapsed    State = "lapsed"    // was allowed, and nobody came for it
)

// Settled reports whether the call left Pending for good.
func (s State) Settled() bool {
	switch s {
	case Allowed, Denied, Expired, Withdrawn, Revoked, Lapsed:
		return true
	default:
		return false
	}
}

// Kind says which card a call needs. All kinds share one state machine.
type Kind string

// Kinds of call.
const (
	Permission Kind = "permission"
	Question   Kind = "question" // the answers are the decision
	Plan       Kind = "plan"
)

// A Call is one tool call of a batch.
type Call struct {
	ID       string    `json:"id"`            // made by the gateway
	Ref      string    `json:"ref,omitempty"` // the agent's own id for the call
	Phase    int       `json:"phase"`         // of the batch that it came with
	Kind     Kind      `json:"kind"`
	Tool     string    `json:"tool"`               // "Bash", "Edit", "mcp__fs__read_file"
	Input    []byte    `json:"-"`                  // exactly the bytes that run if the call is allowed
	InputSum Sum       `json:"input"`              // of Input; the bytes are kept apart, JSON would rewrite them
	Proposed Sum       `json:"proposed"`           // of the input as it came; differs when a hook or a person replaced it
	Dir      string    `json:"dir,omitempty"`      // working directory, if the agent has one
	Claim    string    `json:"claim,omitempty"`    // what the agent says the call is for: never believed
	Suggests []string  `json:"suggests,omitempty"` // matchers that the agent would like remembered: checked before they are offered
	Bound    *Bound    `json:"bound,omitempty"`    // what it depends on besides the input, if a person is asked
	Digest   Sum       `json:"digest"`             // of everything a decision is about
	Deadline time.Time `json:"deadline,omitzero"`

	Verdict Verdict   `json:"verdict"`
	State   State     `json:"state"`
	Decided *Decision `json:"decided,omitempty"` // set when the call is settled
	Edited  *Edit     `json:"edited,omitempty"`  // the last time a person replaced the input

	Lapses   time.Time `json:"lapses,omitzero"`    // with an allow: when it is no longer good
	Consumed *Use      `json:"consumed,omitempty"` // an allow is used once
	Outcome  *Outcome  `json:"outcome,omitempty"`  // after it was consumed
}

// An Edit says who replaced the input of a waiting call, and what it was.
type Edit struct {
	By   Actor     `json:"by"`
	At   time.Time `json:"at"`
	From Sum       `json:"from"` // digest before
}

// A Use is the consumption of an allow. Nonce names the attempt, so that one
// whose answer was lost can be repeated, and no other. Fence is 0 if a host ran
// the call without holding the batch.
type Use struct {
	Fence  int64     `json:"fence"`
	Nonce  string    `json:"nonce"`
	Digest Sum       `json:"digest"`
	At     time.Time `json:"at"`
}

// OutcomeKind says how a consumed call ended.
type OutcomeKind string

// Outcomes.
const (
	Done    OutcomeKind = "done"
	Failed  OutcomeKind = "failed"
	Unknown OutcomeKind = "unknown" // nobody reported: it may have run, and is never run again
)

// An Outcome is what the agent reported after it ran a call.
type Outcome struct {
	Kind      OutcomeKind `json:"kind"`
	At        time.Time   `json:"at"`
	Result    []byte      `json:"-"`               // kept apart, found by its sum
	ResultSum Sum         `json:"result,omitzero"` // zero without a result
}

// permit reports whether the call may still be consumed.
func (c *Call) permit() bool { return c.State == Allowed && c.Consumed == nil }

// running reports whether the call was consumed and nobody knows yet how it
// went.
func (c *Call) running() bool { return c.Consumed != nil && c.Outcome == nil }

// UserDenied begins the uniform result of a call that a person denied (D5).
const UserDenied = "User denied the request."

// Answer returns the text that the agent gets when the call may not run.
func (c *Call) Answer() string {
	var d Decision
	if c.Decided != nil {
		d = *c.Decided
	}
	switch c.State {
	case Denied:
		switch {
		case d.By.Kind != PersonActor:
			return sentence("Denied by policy", d.Note)
		case d.Reply:
			return "The user did not allow this and answers: " + d.Note
		case d.Note == "":
			return UserDenied
		}
		return sentence("User denied the request", d.Note)
	case Expired:
		return "Nobody decided in time, so the request was denied. It may be asked again."
	case Withdrawn:
		return sentence("The request was withdrawn", d.Note)
	case Revoked:
		return sentence("The request had been allowed, but that was taken back", d.Note)
	case Lapsed:
		return "The request had been allowed, but nobody came for it in time. It may be asked again."
	case Allowed:
		return ""
	default:
		return "The request was not decided, so it was denied."
	}
}

func sentence(what, why string) string {
	if why == "" {
		return what + "."
	}
	return what + ": " + why
}

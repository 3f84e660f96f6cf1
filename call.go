package gatelatch

import (
	"time"
)

// State is where a call stands. A call leaves Pending once and never returns.
// Any other word, the empty one included, counts as not settled.
type State string

// States of a call.
const (
	Pending   State = "pending"
	Allowed   State = "allowed"
	Denied    State = "denied"
	Expired   State = "expired"
	Withdrawn State = "withdrawn"
	Revoked   State = "revoked" // was allowed, and taken back before anybody held it
)

// Settled reports whether the call left Pending for good.
func (s State) Settled() bool {
	switch s {
	case Allowed, Denied, Expired, Withdrawn, Revoked:
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
	Kind     Kind      `json:"kind"`
	Tool     string    `json:"tool"`            // "Bash", "Edit", "mcp__fs__read_file"
	Input    []byte    `json:"-"`               // exactly the bytes that run if the call is allowed
	InputSum Sum       `json:"input"`           // of Input; the bytes are kept apart, JSON would rewrite them
	Proposed Sum       `json:"proposed"`        // of the input as it came; differs when a hook replaced it
	Dir      string    `json:"dir,omitempty"`   // working directory, if the agent has one
	Claim    string    `json:"claim,omitempty"` // what the agent says the call is for: never believed
	Digest   Sum       `json:"digest"`          // of everything a decision is about
	Deadline time.Time `json:"deadline,omitzero"`

	Verdict Verdict   `json:"verdict"`
	State   State     `json:"state"`
	Decided *Decision `json:"decided,omitempty"` // set when the call is settled
	Outcome *Outcome  `json:"outcome,omitempty"` // set when the agent reported
}

// A Decision settles one call.
type Decision struct {
	State   State             `json:"state"` // Allowed, Denied, Expired, Withdrawn or Revoked
	By      Actor             `json:"by"`
	At      time.Time         `json:"at"`
	Note    string            `json:"note,omitempty"`    // goes to the agent
	Digest  Sum               `json:"digest"`            // of what was shown
	Answers map[string]string `json:"answers,omitempty"` // for a question: by question text
}

// same reports whether d asks for what e already did, so that a click whose
// answer was lost can be repeated.
func (d Decision) same(e Decision) bool {
	if d.State != e.State || d.By != e.By || d.Note != e.Note || d.Digest != e.Digest || len(d.Answers) != len(e.Answers) {
		return false
	}
	for q, a := range d.Answers {
		if b, ok := e.Answers[q]; !ok || a != b {
			return false
		}
	}
	return true
}

// An Outcome is what the agent reported after it ran a call.
type Outcome struct {
	OK bool      `json:"ok"`
	At time.Time `json:"at"`
}

// Answer returns the text that the agent gets when the call may not run.
func (c *Call) Answer() string {
	note := ""
	if c.Decided != nil {
		note = c.Decided.Note
	}
	switch c.State {
	case Denied:
		if c.Decided != nil && c.Decided.By.Kind == PersonActor {
			if note == "" {
				return "User denied the request."
			}
			return "User denied the request: " + note
		}
		if note == "" {
			return "Denied by policy."
		}
		return "Denied by policy: " + note
	case Expired:
		return "Nobody decided in time, so the request was denied. It may be asked again."
	case Withdrawn:
		return "The request was withdrawn before anybody decided: " + note
	case Revoked:
		return "The request had been allowed, but that was taken back: " + note
	case Allowed:
		return ""
	default:
		return "The request was not decided, so it was denied."
	}
}

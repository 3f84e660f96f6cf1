package gatelatch

import (
	"maps"
	"time"
)

// A Decision settles one call.
type Decision struct {
	State   State             `json:"state"` // any that is settled
	By      Actor             `json:"by"`
	At      time.Time         `json:"at"`
	Note    string            `json:"note,omitempty"`    // goes to the agent
	Digest  Sum               `json:"digest"`            // of what was shown
	Answers map[string]string `json:"answers,omitempty"` // allowing a question: by question text
	Choice  Choice            `json:"choice,omitempty"`  // allowing a plan
	Mode    Mode              `json:"mode,omitempty"`    // allowing a plan: of the session from now on
	// Interrupt, with a denial, ends the agent's turn. Reply, with a denial,
	// says that Note is an answer to go on with, not a refusal (S3).
	Interrupt bool   `json:"interrupt,omitempty"`
	Reply     bool   `json:"reply,omitempty"`
	Remember  *Terms `json:"remember,omitempty"` // with an allow
	Grant     string `json:"grant,omitempty"`    // what was made of Remember
	// Signed is the person's passkey's word for it, checked by who hands it on.
	// The trail keeps it.
	Signed *Signature `json:"-"`
}

// Choice is how an allowed plan is carried out (S8).
type Choice string

// Choices for a plan.
const (
	StartEditing         Choice = "startEditing"         // with the conversation so far
	ClearContextAndStart Choice = "clearContextAndStart" // from the plan alone
)

// same reports whether d asks for what e already did, so that a click whose
// answer was lost can be repeated.
func (d Decision) same(e Decision) bool {
	if (d.Remember == nil) != (e.Remember == nil) || d.Remember != nil && *d.Remember != *e.Remember {
		return false
	}
	return d.State == e.State && d.By == e.By && d.Note == e.Note && d.Digest == e.Digest &&
		d.Choice == e.Choice && d.Mode == e.Mode && d.Interrupt == e.Interrupt && d.Reply == e.Reply && maps.Equal(d.Answers, e.Answers)
}

// check refuses what makes no sense, whatever the call.
func (d *Decision) check() error {
	switch {
	case d.State != Allowed && d.State != Denied:
		return invalid("a decision is allowed or denied, not %q", d.State)
	case d.State != Denied && (d.Interrupt || d.Reply):
		return invalid("only a denial interrupts or replies")
	case d.Interrupt && d.Reply:
		return invalid("a reply is for an agent that goes on: it can't interrupt too")
	case d.Reply && d.Note == "":
		return invalid("a reply has a text")
	case d.State != Allowed && (d.Remember != nil || d.Choice != "" || d.Mode != "" || len(d.Answers) > 0):
		return invalid("answers, a choice, a mode and what to remember go with an allow")
	case d.Mode != "" && d.Mode != ModeDefault && d.Mode != ModeAcceptEdits:
		return invalid("a plan is carried out in mode %s or %s, not %q", ModeDefault, ModeAcceptEdits, d.Mode)
	}
	if err := checkText("note", d.Note, maxText); err != nil {
		return err
	}
	for q, a := range d.Answers {
		if err := checkText("question", q, maxText); err != nil {
			return err
		}
		if err := checkText("answer", a, maxText); err != nil {
			return err
		}
	}
	if d.Remember != nil {
		return d.Remember.check()
	}
	return nil
}

// suits checks d against the kind of call.
func (d *Decision) suits(c *Call) error {
	switch {
	case len(d.Answers) > 0 && c.Kind != Question:
		return invalid("answers go with allowing a question")
	case d.Choice != "" && c.Kind != Plan:
		return invalid("a choice goes with allowing a plan")
	case d.Choice != "" && d.Choice != StartEditing && d.Choice != ClearContextAndStart:
		return invalid("a plan's choice is %s or %s, not %q", StartEditing, ClearContextAndStart, d.Choice)
	case d.Mode != "" && c.Kind != Plan:
		return invalid("a mode goes with allowing a plan")
	case d.Remember != nil && c.Kind != Permission:
		return invalid("the answer to a %s is not remembered", c.Kind)
	case c.Kind == Question && d.State == Allowed:
		return c.answered(d.Answers)
	}
	return nil
}

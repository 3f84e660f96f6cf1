package gatelatch

import (
	"fmt"
	"slices"
	"time"
)

// Mode is how much of a session's work is asked about. No mode weakens a rule
// that denies or asks, or the protection of a path.
type Mode string

// Modes, from the strictest.
const (
	ModePlan        Mode = "plan"              // what does not only read is asked
	ModeDefault     Mode = "default"           // as the rules say
	ModeAcceptEdits Mode = "acceptEdits"       // edits inside the project are allowed
	ModeBypass      Mode = "bypassPermissions" // what no rule speaks about is allowed
)

// Modes lists them from the strictest.
func Modes() []Mode { return []Mode{ModePlan, ModeDefault, ModeAcceptEdits, ModeBypass} }

// ParseMode reads the word for a mode.
func ParseMode(word string) (Mode, error) {
	if m := Mode(word); slices.Contains(Modes(), m) {
		return m, nil
	}
	return "", fmt.Errorf("mode %q is none of %v", word, Modes())
}

// A ModeChoice is a person's choice of mode for one session. What an agent says
// about its own mode is none.
type ModeChoice struct {
	Mode  Mode      `json:"mode"`
	Until time.Time `json:"until,omitzero"` // zero is for as long as the session
	By    Actor     `json:"by"`
	At    time.Time `json:"at"`
}

// ModeAt returns the mode that a person chose and that still holds, or "".
func (s *Session) ModeAt(t time.Time) Mode {
	if !s.Chosen.Until.IsZero() && !t.Before(s.Chosen.Until) {
		return ""
	}
	return s.Chosen.Mode
}

package gatelatch

import "time"

// A Session is an agent's session as its adapter described it.
type Session struct {
	Agent   string    `json:"agent"`             // id of the key that speaks for it
	ID      string    `json:"id"`                // the agent's own id
	Name    string    `json:"name"`              // of the agent: "Claude Code"
	Project string    `json:"project,omitempty"` // root folder; paths are inside or outside of it
	Mode    string    `json:"mode,omitempty"`    // the host's permission mode, as it says
	Host    string    `json:"host,omitempty"`
	Since   time.Time `json:"since"`
	// Chosen is the mode that a person gave the session, if any.
	Chosen ModeChoice `json:"chosen,omitzero"`
	// Parked says that some batch of it is or was parked. Deferred is the one
	// that the host comes back for, if it has not yet.
	Parked   bool   `json:"parked,omitempty"`
	Deferred string `json:"deferred,omitempty"`
	// Owed is what a person said when they ended a turn. Hosts keep that from
	// the agent, so it goes with the next prompt.
	Owed string `json:"owed,omitempty"`
	// Interrupts is how often people stopped it, Halt that the last time is
	// still to be told.
	Interrupts int64 `json:"interrupts,omitempty"`
	Halt       *Halt `json:"halt,omitempty"`
	// Unseen says that a call ran in it that was never proposed, UnseenAt when
	// that was found.
	Unseen   bool      `json:"unseen,omitempty"`
	UnseenAt time.Time `json:"unseen_at,omitzero"`
	// Transcript is the file that the host writes, as it says.
	Transcript string `json:"transcript,omitempty"`

	Version int64 `json:"-"`
}

// describe takes over what the adapter says now. The project root stays as it
// was first given: a session that moves about does not widen its project.
func (s *Session) describe(p SessionInfo) (changed bool) {
	if s.Project == "" && p.Project != "" {
		s.Project, changed = p.Project, true
	}
	for _, f := range []struct {
		have *string
		said string
	}{{&s.Name, p.Name}, {&s.Mode, p.Mode}, {&s.Host, p.Host}, {&s.Transcript, p.Transcript}} {
		if f.said != "" && f.said != *f.have {
			*f.have, changed = f.said, true
		}
	}
	return changed
}

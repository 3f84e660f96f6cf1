package api

import "time"

// Before is what became of calls like one that waits: of the same programs with
// their verbs, or the same tool and file, in the same project.
type Before struct {
	Of      int        `json:"of"`             // settled calls that were looked at
	Count   int        `json:"count"`          // those like it that people allowed
	Call    string     `json:"call,omitempty"` // the newest of them
	By      *Actor     `json:"by,omitempty"`
	At      *time.Time `json:"at,omitempty"`
	Exactly bool       `json:"exactly,omitempty"` // one had the same input
	Fresh   []Touch    `json:"fresh,omitempty"`   // what none of them touched
}

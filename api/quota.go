package api

import "time"

// Muted is an agent that asked too much, and may not ask until a person says so.
type Muted struct {
	Agent string    `json:"agent"` // id of its key
	Name  string    `json:"name,omitempty"`
	At    time.Time `json:"at"`
}

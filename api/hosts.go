package api

import "time"

// Park says that nobody waits for the answer at present.
type Park struct {
	// Deferred says that the host comes back with the same call when it is
	// resumed. A session has one such call at most.
	Deferred bool `json:"deferred,omitempty"`
}

// Leave takes back what still waits in a session: the turn is over.
type Leave struct {
	Session  string `json:"session"`
	Subagent string `json:"subagent,omitempty"` // its id; without one, the main agent
	All      bool   `json:"all,omitempty"`      // everybody: the session is over
	Prompt   bool   `json:"prompt,omitempty"`   // for a new prompt
	Why      string `json:"why"`
}

// Left is what a person said when they ended the turn before, for the prompt
// that follows.
type Left struct {
	Said string `json:"said,omitempty"`
}

// Reported is what a host may want to know about a call that it ran.
type Reported struct {
	Changed bool `json:"changed,omitempty"` // it was allowed with another input than the agent's
}

// Deferral is a call whose host ended and comes back for the answer when it is
// resumed.
type Deferral struct {
	Session Session   `json:"session"`
	Call    string    `json:"call"`
	Batch   string    `json:"batch"`
	Tool    string    `json:"tool"`
	Subject string    `json:"subject"` // the call in one line
	State   string    `json:"state"`
	Ready   bool      `json:"ready"` // it is settled: the host can go on
	Since   time.Time `json:"since"`
}

// Deferrals are all that wait to be resumed.
type Deferrals struct {
	Deferrals []Deferral `json:"deferrals"`
	Seq       int64      `json:"seq"` // of the trail: a stream behind it misses nothing
}

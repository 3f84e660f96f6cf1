package api

// Interrupt ends the turn of a session: what waits in it is denied, and the
// agent stops, at the latest with its next call.
type Interrupt struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Note    string `json:"note,omitempty"` // for the agent's model
}

// FollowInterrupts waits until people have interrupted the agent's session more
// often than it knows. Without a change it is answered after a while, with the
// same number. A host that gives the latest number has told its agent.
type FollowInterrupts struct {
	Session string `json:"session"`
	Known   int64  `json:"known"` // -1 before any is known: then the answer comes at once, without one that nobody was told of
}

// FollowedInterrupts is how often people have interrupted a session.
type FollowedInterrupts struct {
	Interrupts int64 `json:"interrupts"`
}

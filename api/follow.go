package api

// FollowMode waits until a person chose another mode for the agent's session
// than the one it knows. Without a change it is answered after a while, with
// the same mode.
type FollowMode struct {
	Session string `json:"session"`
	Mode    string `json:"mode"` // as it is known; "" is none
}

// FollowedMode is the mode that a person chose, "" if none.
type FollowedMode struct {
	Mode string `json:"mode"`
}

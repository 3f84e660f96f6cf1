package api

// TryMatch asks what remembering a matcher would do.
type TryMatch struct {
	Scope string `json:"scope"`
	Match string `json:"match"`
}

// Trial is what a matcher would have allowed of the calls that were settled
// last.
type Trial struct {
	Of      int      `json:"of"` // calls that it was tried on
	Matches int      `json:"matches"`
	Calls   []string `json:"calls"` // some of them, each in one line
}

// RulesMode is the mode that the rules give a session.
type RulesMode struct {
	Mode   string `json:"mode"`
	Source string `json:"source,omitempty"` // where it is written
}

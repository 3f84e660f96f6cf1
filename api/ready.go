package api

// Ready says whether the gateway can decide now. Failing names what keeps it
// from that: stopping, store, audit, rules, checkpoints.
type Ready struct {
	Ready   bool     `json:"ready"`
	Failing []string `json:"failing,omitempty"`
}

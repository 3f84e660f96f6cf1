package api

// Ready is what a gateway says that can decide now. One that can't answers with
// a problem that names what keeps it: stopping, store, audit, rules, checkpoints.
type Ready struct {
	Ready bool `json:"ready"`
}

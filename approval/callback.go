package approval

import "github.com/gatelatch/gatelatch"

// AutoApprove is the id of a hook callback that a host registers for tools it
// wants to run unasked. Only who embeds Gatelatch can register it; an agent
// that sends it elsewhere is asked like any other.
const AutoApprove = "gatelatch.auto-approve"

// Callback answers a hook callback of a host (V5): the one that is registered
// as AutoApprove is allowed, any other asks, and goes on to the approval itself.
// Without a call id nothing is allowed (V2).
func Callback(registered, callID string) gatelatch.Effect {
	if registered == AutoApprove && callID != "" {
		return gatelatch.Allow
	}
	return gatelatch.Ask
}

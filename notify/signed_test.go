package notify

import (
	"testing"

	"github.com/gatelatch/gatelatch"
)

// A button can't sign: where an allow needs a passkey it only denies.
func TestButtonsDoNotSign(t *testing.T) {
	for name, tt := range map[string]struct {
		button func(Notice) string
		err    error
		state  gatelatch.State
	}{
		"allow": {func(n Notice) string { return n.Allow }, gatelatch.ErrUnsigned, gatelatch.Pending},
		"deny":  {func(n Notice) string { return n.Deny }, nil, gatelatch.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			pressed(t, func(_ *testing.T, r *rig, call string, n Notice) {
				r.gate.Signs = func(*gatelatch.Call, gatelatch.Decision) bool { return true }
				r.press(tt.button(n), tt.err)
				r.state(call, tt.state)
			})
		})
	}
}

package notify

import (
	"testing"
	"time"

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

// What needs a passkey has no button that would be refused.
func TestNoAllowButtonWhereAPasskeyIsNeeded(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.box.Public, r.box.Targets[0].Buttons = "https://gate.example", true
		r.box.Signs = func(c *gatelatch.Call, d gatelatch.Decision) bool {
			return c.Tool == "Write" && d.State == gatelatch.Allowed
		}
		r.start(r.box)
		for tool, allow := range map[string]bool{"Write": false, "Edit": true} {
			r.ask(tool)
			pass(time.Second)
			if n := r.phone.last(); n.Tool != tool || (n.Allow != "") != allow || n.Deny == "" {
				t.Errorf("%s: allow %q, deny %q", n.Tool, n.Allow, n.Deny)
			}
		}
	})
}

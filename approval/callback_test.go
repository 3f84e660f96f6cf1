package approval

import (
	"testing"

	"github.com/gatelatch/gatelatch"
)

func TestHookCallbacks(t *testing.T) {
	for _, tt := range []struct {
		registered, call string
		want             gatelatch.Effect
	}{
		{AutoApprove, "toolu_1", gatelatch.Allow},
		{AutoApprove, "", gatelatch.Ask},
		{"", "toolu_1", gatelatch.Ask},
		{"gatelatch.auto-approve2", "toolu_1", gatelatch.Ask},
		{"GATELATCH.AUTO-APPROVE", "toolu_1", gatelatch.Ask},
	} {
		if got := Callback(tt.registered, tt.call); got != tt.want {
			t.Errorf("%q, %q: %s", tt.registered, tt.call, got)
		}
	}
}

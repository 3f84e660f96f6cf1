package hook

import (
	"context"
	"errors"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func TestFunc(t *testing.T) {
	t.Parallel()
	want := errors.New("broken")
	h := New("mine", func(_ context.Context, c *gatelatch.Call, _ *gatelatch.Session) (gatelatch.HookResult, error) {
		return gatelatch.HookResult{Block: c.Tool == "X"}, want
	})
	got, err := h.Before(t.Context(), &gatelatch.Call{Tool: "X"}, nil)
	if h.Name() != "mine" || !got.Block || !errors.Is(err, want) {
		t.Errorf("got %q, %+v, %v", h.Name(), got, err)
	}
}

// O5: a function replaces fields, as a script does.
func TestFuncMerges(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{`{"b":3}`: `{"a":1,"b":3}`, `{"B":3}`: "", `[]`: ""} {
		h := New("mine", func(context.Context, *gatelatch.Call, *gatelatch.Session) (gatelatch.HookResult, error) {
			return gatelatch.HookResult{Input: []byte(change)}, nil
		})
		got, err := h.Before(t.Context(), &gatelatch.Call{Input: []byte(`{"a":1,"b":2}`)}, nil)
		if string(got.Input) != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %s, %v", change, got.Input, err)
		}
	}
}

func TestAfterFunc(t *testing.T) {
	t.Parallel()
	want := errors.New("broken")
	h := NewAfter("mine", func(context.Context, *gatelatch.Call, *gatelatch.Session) error { return want })
	if err := h.After(t.Context(), &gatelatch.Call{}, nil); h.Name() != "mine" || !errors.Is(err, want) {
		t.Errorf("got %q, %v", h.Name(), err)
	}
}

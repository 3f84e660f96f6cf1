// Package hook has the hooks that a gateway can run before policy judges: a Go
// function, or a script. A hook may block a call or replace its input, never
// allow it; one that fails blocks.
package hook

import (
	"context"

	"github.com/gatelatch/gatelatch"
)

// Func is a hook made of a function.
type Func struct {
	name string
	fn   func(context.Context, *gatelatch.Call, *gatelatch.Session) (gatelatch.HookResult, error)
}

var _ gatelatch.Hook = Func{}

// New returns fn as a hook. The name stands in reasons.
func New(name string, fn func(context.Context, *gatelatch.Call, *gatelatch.Session) (gatelatch.HookResult, error)) Func {
	return Func{name, fn}
}

// Name implements gatelatch.Hook.
func (f Func) Name() string { return f.name }

// Before implements gatelatch.Hook.
func (f Func) Before(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session) (gatelatch.HookResult, error) {
	return f.fn(ctx, c, s)
}

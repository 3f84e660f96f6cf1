// Package hook has the hooks that a gateway, or the guard of a toolset, runs
// around calls: Go functions and scripts. Before a call a hook may block it or
// replace fields of its input, never allow it; one that fails blocks. After a
// call a hook is told how it went; one that fails is logged.
package hook

import (
	"context"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Func is a hook made of a function.
type Func struct {
	name string
	fn   func(context.Context, *gatelatch.Call, *gatelatch.Session) (gatelatch.HookResult, error)
}

var _ gatelatch.Hook = Func{}

// New returns fn as a hook. The name stands in reasons. The fields of an Input
// that fn returns take the place of those of the same name, as a script's do.
func New(name string, fn func(context.Context, *gatelatch.Call, *gatelatch.Session) (gatelatch.HookResult, error)) Func {
	return Func{name, fn}
}

// Name implements gatelatch.Hook.
func (f Func) Name() string { return f.name }

// Before implements gatelatch.Hook.
func (f Func) Before(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session) (gatelatch.HookResult, error) {
	res, err := f.fn(ctx, c, s)
	if err == nil && res.Input != nil {
		res.Input, err = strictjson.Merge(c.Input, res.Input)
	}
	return res, err
}

// AfterFunc is an after-hook made of a function.
type AfterFunc struct {
	name string
	fn   func(context.Context, *gatelatch.Call, *gatelatch.Session) error
}

var _ gatelatch.AfterHook = AfterFunc{}

// NewAfter returns fn as an after-hook. The name stands in the log.
func NewAfter(name string, fn func(context.Context, *gatelatch.Call, *gatelatch.Session) error) AfterFunc {
	return AfterFunc{name, fn}
}

// Name implements gatelatch.AfterHook.
func (f AfterFunc) Name() string { return f.name }

// After implements gatelatch.AfterHook.
func (f AfterFunc) After(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session) error {
	return f.fn(ctx, c, s)
}

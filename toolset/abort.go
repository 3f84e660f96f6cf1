package toolset

import "context"

// aborting ends a tool also when a signal does that is not its caller's (O8).
type aborting struct {
	inner  Runner
	signal context.Context // the second signal, beside that of each call
}

func withAbort(signal context.Context, t Tool) Tool {
	if _, done := find[aborting](t.Run); !done {
		t.Run = aborting{t.Run, signal}
	}
	return t
}

func (a aborting) unwrap() Runner { return a.inner }

// Run implements Runner.
func (a aborting) Run(ctx context.Context, c Call) ([]byte, error) {
	ctx, stop := a.join(ctx)
	defer stop()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return a.inner.Run(ctx, c)
}

// join returns a context that ends with the first of the two, and says why.
func (a aborting) join(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if a.signal.Err() != nil { // AfterFunc would only tell later
		cancel(context.Cause(a.signal))
	}
	stop := context.AfterFunc(a.signal, func() { cancel(context.Cause(a.signal)) })
	return ctx, func() { stop(); cancel(nil) }
}

// wrapper is a Runner around another.
type wrapper interface{ unwrap() Runner }

// find looks for a wrapper of one kind, however deep.
func find[W Runner](r Runner) (w W, ok bool) {
	for r != nil {
		if w, ok = r.(W); ok {
			return w, true
		}
		outer, more := r.(wrapper)
		if !more {
			break
		}
		r = outer.unwrap()
	}
	return w, false
}

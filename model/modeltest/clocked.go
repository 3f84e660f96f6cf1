package modeltest

import (
	"context"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/clock"
)

// Clocked gives a store another clock, for one whose time nobody can set.
func Clocked(s gatelatch.Store, now func() time.Time) gatelatch.Store {
	return &clocked{s, clock.New(now)}
}

type clocked struct {
	gatelatch.Store
	clock *clock.Clock
}

type clockedTx struct {
	gatelatch.Tx
	now time.Time
}

// Now implements gatelatch.Reader.
func (t clockedTx) Now() time.Time { return t.now }

type clockedReader struct {
	gatelatch.Reader
	now time.Time
}

// Now implements gatelatch.Reader.
func (r clockedReader) Now() time.Time { return r.now }

// Update implements gatelatch.Store.
func (s *clocked) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	return s.Store.Update(ctx, func(tx gatelatch.Tx) error { return fn(clockedTx{tx, s.clock.Now()}) })
}

// View implements gatelatch.Store.
func (s *clocked) View(ctx context.Context, fn func(gatelatch.Reader) error) error {
	return s.Store.View(ctx, func(r gatelatch.Reader) error { return fn(clockedReader{r, s.clock.Now()}) })
}

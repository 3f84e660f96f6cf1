package server

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/metrics"
)

// Commits is a store that times its changes, and knows whether the last one
// failed for the store's own reasons.
type Commits struct {
	gatelatch.Store
	took   *metrics.Family
	failed *metrics.Family
	broken atomic.Bool
}

// NewCommits returns store, with its changes counted in r.
func NewCommits(store gatelatch.Store, r *metrics.Registry) *Commits {
	return &Commits{
		Store:  store,
		took:   r.Histogram("gatelatch_commit_seconds", "How long changes of this gateway took until they were durable.", []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .25, 1, 5}),
		failed: r.Counter("gatelatch_commit_failures_total", "Changes of this gateway that its store could not keep."),
	}
}

// Update implements gatelatch.Store.
func (c *Commits) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	began := time.Now()
	err := c.Store.Update(ctx, fn)
	c.took.Observe(time.Since(began).Seconds())
	switch {
	case errors.Is(err, gatelatch.ErrUnavailable):
		c.failed.Inc()
		c.broken.Store(true)
	case err == nil:
		c.broken.Store(false)
	}
	return err
}

// Problem says what is wrong with the store, "" if nothing is known to be.
func (c *Commits) Problem() string {
	if c.broken.Load() {
		return "the last change could not be kept"
	}
	return ""
}

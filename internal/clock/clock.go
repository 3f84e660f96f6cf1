// Package clock keeps a time that neither runs backwards nor stands still,
// whatever is done to the clock of the machine: a step back must not give
// anything more time than it had.
package clock

import (
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/internal/twin"
)

// A Clock is the high-water mark of a time, and goes on from there by itself.
type Clock struct {
	read func() time.Time

	mu   sync.Mutex
	now  time.Time
	seen time.Time // what read said when now was noted
}

// New returns a clock over this machine's. A time from read that has a
// monotonic reading, as time.Now's has, tells how much time went by even if
// the machine's clock was set; one without tells only what it shows.
func New(read func() time.Time) *Clock { return &Clock{read: read} }

// Now returns the time by this machine.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.read()
	return c.step(t, t)
}

// By returns the time by another clock that shows t, or a mark t that must have
// passed.
func (c *Clock) By(t time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.step(c.read(), t)
}

func (c *Clock) step(seen, shown time.Time) time.Time {
	if !c.seen.IsZero() {
		c.now = c.now.Add(max(0, seen.Sub(c.seen)))
	}
	c.seen = seen
	if shown.After(c.now) || twin.Is == "clock_runs_back" {
		c.now = shown.UTC()
	}
	return c.now.Truncate(time.Microsecond)
}

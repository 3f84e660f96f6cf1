package storage

import (
	"context"
	"sync"

	"github.com/gatelatch/gatelatch"
)

// Ears are those who want to hear of changes.
type Ears struct {
	mu   sync.Mutex
	hear map[int]func(gatelatch.Change)
	next int
}

// Changes calls fn on each Tell, until ctx ends.
func (e *Ears) Changes(ctx context.Context, fn func(gatelatch.Change)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hear == nil {
		e.hear = map[int]func(gatelatch.Change){}
	}
	ear := e.next
	e.next++
	e.hear[ear] = fn
	context.AfterFunc(ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.hear, ear)
	})
}

// Tell tells everybody of c.
func (e *Ears) Tell(c gatelatch.Change) {
	e.mu.Lock()
	ears := make([]func(gatelatch.Change), 0, len(e.hear))
	for _, fn := range e.hear {
		ears = append(ears, fn)
	}
	e.mu.Unlock()
	for _, fn := range ears {
		fn(c)
	}
}

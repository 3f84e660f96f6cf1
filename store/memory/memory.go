// Package memory keeps everything in this process. It is the shortest store
// that keeps every promise of gatelatch.Store, for reading, and for tests.
package memory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Options change what a store does.
type Options struct {
	Now func() time.Time // the store's clock; nil is time.Now
}

// Store is a gatelatch.Store. What it holds outlives any gate over it: a new
// gate over the same store is a restart.
type Store struct {
	clock func() time.Time

	mu     sync.RWMutex // writers wait for readers, so that a reader sees one state
	closed bool
	data   data

	time sync.Mutex
	last time.Time // high-water mark: the clock never runs backwards

	ears sync.Mutex
	hear map[*func(gatelatch.Change)]struct{}
}

var _ gatelatch.Store = (*Store)(nil)

// data is what the store holds. What a row points at never changes: a save
// puts a copy in its place, and a load returns a copy.
type data struct {
	batches  map[string]row
	calls    map[string]string    // call id to batch id
	messages map[[3]string]string // agent, session and message to batch id
	refs     map[[3]string]string // agent, session and ref to batch id
	bytes    map[gatelatch.Sum][]byte
	sessions map[[2]string]gatelatch.Session
	grants   map[string]gatelatch.Grant
	works    map[string]gatelatch.Work
	keys     map[string]gatelatch.Key
	hashes   map[gatelatch.Sum]string // of secrets, to key id
	control  gatelatch.Control
	events   []gatelatch.Event
}

type row struct {
	batch *gatelatch.Batch
	index gatelatch.Index
}

// New returns an empty store.
func New(opt Options) *Store {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Store{clock: opt.Now, hear: map[*func(gatelatch.Change)]struct{}{}, data: data{
		batches: map[string]row{}, calls: map[string]string{}, messages: map[[3]string]string{}, refs: map[[3]string]string{},
		bytes: map[gatelatch.Sum][]byte{}, sessions: map[[2]string]gatelatch.Session{}, grants: map[string]gatelatch.Grant{},
		works: map[string]gatelatch.Work{}, keys: map[string]gatelatch.Key{}, hashes: map[gatelatch.Sum]string{},
	}}
}

func (s *Store) now() time.Time {
	s.time.Lock()
	defer s.time.Unlock()
	if t := s.clock().UTC().Truncate(time.Microsecond); t.After(s.last) {
		s.last = t
	}
	return s.last
}

// Update implements gatelatch.Store.
func (s *Store) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	change, err := s.commit(ctx, fn)
	if err != nil || change == nil {
		return err
	}
	s.ears.Lock()
	defer s.ears.Unlock()
	for ear := range s.hear {
		(*ear)(*change)
	}
	return nil
}

// commit returns what changed, nil if nothing did.
func (s *Store) commit(ctx context.Context, fn func(gatelatch.Tx) error) (*gatelatch.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	t := &tx{reader: reader{&s.data, s.now()}}
	if err := guard(fn, t); err != nil {
		t.back(0)
		return nil, err
	}
	for _, b := range t.saved {
		b.Saved(len(b.Events()), b.Version+1)
	}
	if len(t.undo) == 0 {
		return nil, nil
	}
	return &gatelatch.Change{Seq: gatelatch.Seq(len(s.data.events)), Batches: t.touched}, nil
}

func guard(fn func(gatelatch.Tx) error, t *tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v", p)
		}
	}()
	return fn(t)
}

func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return gatelatch.ErrClosed
	}
	return context.Cause(ctx)
}

// View implements gatelatch.Store.
func (s *Store) View(ctx context.Context, fn func(gatelatch.Reader) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	return fn(&reader{&s.data, s.now()})
}

// Changes implements gatelatch.Store.
func (s *Store) Changes(ctx context.Context, fn func(gatelatch.Change)) {
	s.ears.Lock()
	defer s.ears.Unlock()
	s.hear[&fn] = struct{}{}
	context.AfterFunc(ctx, func() {
		s.ears.Lock()
		defer s.ears.Unlock()
		delete(s.hear, &fn)
	})
}

// Close implements gatelatch.Store. Nobody reads what it held any more.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

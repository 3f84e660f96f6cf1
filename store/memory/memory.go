// Package memory keeps everything in this process. It is the shortest store
// that keeps every promise of gatelatch.Store, for reading, and for tests.
package memory

import (
	"context"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/clock"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// Options change what a store does.
type Options struct {
	Now func() time.Time // the store's clock; nil is time.Now
}

// Store is a gatelatch.Store. What it holds outlives any gate over it: a new
// gate over the same store is a restart.
type Store struct {
	storage.Ears
	clock *clock.Clock

	mu     sync.RWMutex // writers wait for readers, so that a reader sees one state
	closed bool
	data   data
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
	policies map[int64]gatelatch.Revision
	works    map[string]gatelatch.Work
	outbox   map[string]gatelatch.Message
	cursors  map[string]gatelatch.Cursor
	keys     map[string]gatelatch.Key
	hashes   map[gatelatch.Sum]string // of secrets, to key id
	control  gatelatch.Control
	events   []gatelatch.Event
	head     storage.Head
}

type row struct {
	batch   *gatelatch.Batch
	index   gatelatch.Index
	created []time.Time // of each call
}

// New returns an empty store.
func New(opt Options) *Store {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Store{clock: clock.New(opt.Now), data: data{
		batches: map[string]row{}, calls: map[string]string{}, messages: map[[3]string]string{}, refs: map[[3]string]string{},
		bytes: map[gatelatch.Sum][]byte{}, sessions: map[[2]string]gatelatch.Session{}, grants: map[string]gatelatch.Grant{}, policies: map[int64]gatelatch.Revision{},
		works: map[string]gatelatch.Work{}, outbox: map[string]gatelatch.Message{}, cursors: map[string]gatelatch.Cursor{}, keys: map[string]gatelatch.Key{}, hashes: map[gatelatch.Sum]string{},
	}}
}

// Update implements gatelatch.Store.
func (s *Store) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	change, err := s.commit(ctx, fn)
	if change != nil {
		s.Tell(*change)
	}
	return err
}

// commit returns what changed, nil if nothing did.
func (s *Store) commit(ctx context.Context, fn func(gatelatch.Tx) error) (*gatelatch.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	t := &tx{reader: reader{&s.data, s.now()}}
	err := storage.Guard(fn, t)
	if t.torn != nil {
		err = t.torn
	}
	if err != nil {
		t.back()
		return nil, err
	}
	storage.Tell(t.saved)
	if len(t.undo) == 0 {
		return nil, nil
	}
	return &gatelatch.Change{Seq: s.data.head.Seq, Batches: t.touched}, nil
}

// now is the time, and never before the end of the trail.
func (s *Store) now() time.Time {
	now := s.clock.Now()
	if end := s.data.head.At; end.After(now) {
		return s.clock.By(end)
	}
	return now
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

// Close implements gatelatch.Store. Nobody reads what it held any more.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

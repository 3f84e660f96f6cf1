package sqlite

import (
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
)

// keys are those that were shown lately. They are true because nobody else
// writes: a commit that saved any key empties it before anybody hears of that.
type keys struct {
	mu    sync.RWMutex
	known map[gatelatch.Sum]gatelatch.Key
	age   int // how often it was emptied
}

const mostKeys = 1024

// now is the age that a view has that begins now.
func (k *keys) now() int {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.age
}

// keep takes a key that a view of that age has read.
func (k *keys) keep(key gatelatch.Key, age int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.age != age {
		return
	}
	if k.known == nil || len(k.known) >= mostKeys {
		k.known = map[gatelatch.Sum]gatelatch.Key{}
	}
	k.known[key.Hash] = key
}

func (k *keys) empty() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.age++
	clear(k.known)
}

// KnownKey returns a key as it is now, and the time, if no reading is needed
// for it.
func (s *Store) KnownKey(h gatelatch.Sum) (key *gatelatch.Key, now time.Time, ok bool) {
	select {
	case <-s.closed:
		return nil, now, false
	default:
	}
	s.keys.mu.RLock()
	defer s.keys.mu.RUnlock()
	k, ok := s.keys.known[h]
	return &k, s.clock.Now(), ok
}

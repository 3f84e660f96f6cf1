package auth

import (
	"maps"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Limits of guessing, for each address and for each key whose cookie is known.
const (
	guessBurst = 50
	guessEvery = time.Second // one more
	maxGuesser = 4096
	maxKnown   = 1 << 16
	learnEvery = time.Second
)

// guesses counts what was wrong. Secrets are too long to be guessed; the limit
// keeps trying cheap. It holds on loopback as anywhere, and never for a secret
// that is right: who floods the gateway locks nobody out.
type guesses struct {
	mu      sync.Mutex
	from    map[string]bucket
	known   map[gatelatch.Sum]bool
	learned time.Time
	now     func() time.Time // nil is the clock
}

// bucket is when all of its guesses are forgotten.
type bucket struct{ empty time.Time }

func (g *guesses) clock() time.Time {
	if g.now != nil {
		return g.now()
	}
	return time.Now()
}

// may reports whether a secret is looked at at all.
func (g *guesses) may(secret gatelatch.Sum, from string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[secret] || !g.full(from)
}

// learn tells whether it is time to read which secrets are right: a guess
// beyond the limit costs no look into the store.
func (g *guesses) learn() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	if now.Sub(g.learned) < learnEvery {
		return false
	}
	g.learned = now
	return true
}

func (g *guesses) full(from string) bool {
	return g.from[from].empty.Sub(g.clock()) > (guessBurst-1)*guessEvery
}

// wrong counts a guess, and reports whether there may be another.
func (g *guesses) wrong(from string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.full(from) {
		return false
	}
	now := g.clock()
	b := g.from[from]
	if b.empty.Before(now) {
		b.empty = now
	}
	g.room(now)
	g.from[from] = bucket{b.empty.Add(guessEvery)}
	return true
}

// Wrong counts a secret of another kind that nobody knows as a guess, and says
// what to answer.
func (a *Auth) Wrong(from string, err error) error {
	if !a.guesses.wrong(from) {
		return ErrGuessing
	}
	return err
}

// room forgets who stopped guessing. If none did, all get another burst: what
// they may cost is bounded.
func (g *guesses) room(now time.Time) {
	if len(g.from) >= maxGuesser {
		maps.DeleteFunc(g.from, func(_ string, b bucket) bool { return b.empty.Before(now) })
	}
	if g.from == nil || len(g.from) >= maxGuesser {
		g.from = map[string]bucket{}
	}
}

func (g *guesses) right(secret gatelatch.Sum) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known[secret] {
		return
	}
	if g.known == nil || len(g.known) >= maxKnown {
		g.known = map[gatelatch.Sum]bool{}
	}
	g.known[secret] = true
}

func (g *guesses) forget(secret gatelatch.Sum) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.known, secret)
}

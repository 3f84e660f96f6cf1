package server

import "sync"

// mostGuests is how many connections of other protocols a key has at once: as
// many as calls that may wait.
const mostGuests = 1000

// guests counts them by key.
type guests struct {
	mu sync.Mutex
	n  map[string]int
}

func (g *guests) enter(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n[key] >= mostGuests {
		return false
	}
	if g.n == nil {
		g.n = map[string]int{}
	}
	g.n[key]++
	return true
}

func (g *guests) leave(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n[key]--; g.n[key] == 0 {
		delete(g.n, key)
	}
}

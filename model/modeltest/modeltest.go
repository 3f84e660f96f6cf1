// Package modeltest holds a gate over any store against the model: random
// histories, and after each step the same answers, states and events.
package modeltest

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/model"
	"pgregory.net/rapid"
)

// Open returns the store for the next history, with now as its clock. It may
// return the same one every time: histories do not meet.
type Open func(now func() time.Time) gatelatch.Store

const (
	steps = 16 // the average length of a history
	often = 20 // how often many histories have to reach each rare state
)

// Run plays histories over the stores that open returns, workers at a time. If
// there are thousands it fails unless each rare state was reached often.
func Run(t *testing.T, histories, workers int, open Open) {
	set(t, "rapid.checks", fmt.Sprint((histories+workers-1)/workers))
	set(t, "rapid.steps", fmt.Sprint(steps))
	all := map[string]int{}
	begin := time.Now()
	t.Run("histories", func(t *testing.T) {
		var mu sync.Mutex
		for i := range workers {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				w := &worker{open: open, seen: map[string]int{}, old: map[string]bool{}}
				rapid.Check(t, w.history)
				mu.Lock()
				defer mu.Unlock()
				for k, n := range w.seen {
					all[k] += n
				}
			})
		}
	})
	t.Log(summary(all, time.Since(begin)))
	if n := all["histories"]; n < 10_000 || t.Failed() {
		return
	}
	for _, s := range sometimes {
		if all[s] < often {
			t.Errorf("%q was reached %d times, want %d", s, all[s], often)
		}
	}
}

// set sets one of rapid's flags for this test, unless whoever runs it did.
func set(t *testing.T, name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	f := flag.Lookup(name)
	before := f.Value.String()
	// Not flag.Set: the flag would count as given afterwards.
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}

func summary(seen map[string]int, took time.Duration) string {
	var out strings.Builder
	n := seen["histories"]
	fmt.Fprintf(&out, "%d histories, %.0f a second", n, float64(n)/took.Seconds())
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintf(&out, "\n%8d %s", seen[k], k)
	}
	return out.String()
}

// A worker plays one history after the other.
type worker struct {
	open  Open
	seen  map[string]int
	old   map[string]bool // batches of all histories
	store gatelatch.Store
	chain *audit.Chain
	wall  time.Duration // what the clock shows
	last  time.Duration // what it showed before
	high  time.Duration // the store's time
	n     int
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var step = rapid.Uint64()

func (w *worker) now() time.Time { return epoch.Add(w.wall) }

func (w *worker) history(t *rapid.T) {
	w.n++
	w.seen["histories"]++
	s := w.open(w.now)
	used := s == w.store
	if !used {
		w.store, w.chain, w.wall, w.high = s, &audit.Chain{}, 0, 0
		w.last = 0
	}
	h := &history{T: t, worker: w, shown: map[*model.Call]map[string]gatelatch.Sum{}, batches: map[string]*model.Batch{}, trail: NewTrail()}
	h.world = &model.World{Rules: model.Rules{Judge: judge, Covers: covers}, Now: w.high, Project: map[string]string{"s1": "/p", "s2": ""},
		Owed: map[[2]string]string{}, Unseen: map[[2]string]bool{}}
	for i := range h.agents {
		h.agents[i] = gatelatch.Actor{Kind: gatelatch.AgentActor, ID: fmt.Sprintf("key_%d_%d", w.n, i)}
	}
	h.restart()
	if used {
		h.clean()
	}
	seed := rapid.Uint64().Draw(t, "history")
	t.Repeat(map[string]func(*rapid.T){
		"": func(*rapid.T) { h.check() },
		// One number draws a whole step: rapid prefers small ones, and would
		// rarely get anywhere.
		"step": func(t *rapid.T) {
			h.T = t
			h.dice.Seed(seed, step.Draw(t, "step"))
			w.wall += time.Millisecond
			h.tick()
			a := h.next()
			w.seen["step "+a.name]++
			a.do(h)
		},
	})
	h.compareAll(func(string) bool { return true })
	h.compareDeferrals()
}

// clean makes a store that was used before as a history wants to find it.
func (h *history) clean() {
	h.must(h.seat(mira).Unpause(h.Context()))
	h.world.Unpause(mira.ID)
	h.sweep(h.gates[0])
	h.look()
	h.world.Events = nil
}

// tick tells the model what the clock shows. A store's time goes on when that
// is set back, from where it stood.
func (h *history) tick() {
	h.high = max(h.high+max(0, h.wall-h.last), h.wall)
	h.last, h.world.Now = h.wall, h.high
}

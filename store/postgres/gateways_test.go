package postgres

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

// two opens two stores on one database, as two gateways do.
func two(t *testing.T, opt Options) (string, [2]*Store) {
	t.Helper()
	dir := t.TempDir()
	return dir, [2]*Store{open(t, dir, opt), open(t, dir, opt)}
}

func TestFirstDecisionWinsAcrossGateways(t *testing.T) {
	_, stores := two(t, Options{})
	for round := range 10 {
		name := fmt.Sprint("m", round)
		must(t, save(stores[round%2], pending(name)))
		var wg sync.WaitGroup
		won := make(chan string, 32)
		for i := range 32 {
			wg.Go(func() {
				who := fmt.Sprint("p", i)
				err := decide(stores[i%2], "cal_"+name, who, []gatelatch.State{gatelatch.Allowed, gatelatch.Denied}[i/2%2])
				switch {
				case err == nil:
					won <- who
				case !errors.Is(err, gatelatch.ErrSettled):
					t.Errorf("a late decision got %v", err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("%d decisions won, want 1", len(won))
		}
		b := view(t, stores[round%2], func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_" + name) })
		if got, want := b.Calls[0].Decided.By.Name, <-won; got != want {
			t.Errorf("decided by %s, but %s was told so", got, want)
		}
	}
	trail(t, stores[0])
}

// Both write 200 batches and then decide all 400, one of them from the end: so
// they meet in rows that they hold, in no common order.
func TestTrailIsOneAcrossGateways(t *testing.T) {
	_, stores := two(t, Options{})
	const each = 200
	var names []string
	for i := range 2 * each {
		names = append(names, fmt.Sprint("m", i))
	}
	inParallel(16, names, func(i int, name string) {
		if err := save(stores[i%2], pending(name)); err != nil {
			t.Error(err)
		}
	})
	var won atomic.Int32
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() {
			mine := slices.Clone(names)
			if i == 1 {
				slices.Reverse(mine)
			}
			inParallel(16, mine, func(_ int, name string) {
				switch err := decide(s, "cal_"+name, fmt.Sprint("p", i), gatelatch.Denied); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, gatelatch.ErrSettled):
					t.Error(err)
				}
			})
		})
	}
	wg.Wait()
	if n := won.Load(); n != 2*each {
		t.Errorf("%d decisions won, want %d", n, 2*each)
	}
	if n := len(trail(t, stores[0])); n != 3*2*each {
		t.Errorf("%d events, want %d", n, 3*2*each)
	}
}

func inParallel(n int, names []string, fn func(int, string)) {
	var wg sync.WaitGroup
	var next atomic.Int32
	for range n {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				fn(i, names[i])
			}
		})
	}
	wg.Wait()
}

// REL-26: a NOTIFY wakes at once; without one the poll does.
func TestChangesOfOtherGatewaysAreHeard(t *testing.T) {
	for name, c := range map[string]struct {
		opt  Options
		most time.Duration
	}{
		"by NOTIFY": {Options{poll: time.Hour}, 10 * time.Second},
		"by poll":   {Options{quiet: true}, 2500 * time.Millisecond}, // a loaded machine is slow
	} {
		t.Run(name, func(t *testing.T) {
			_, stores := two(t, c.opt)
			told := make(chan gatelatch.Change, 16)
			stores[1].Changes(t.Context(), func(c gatelatch.Change) { told <- c })
			for _, m := range []string{"m1", "m2"} {
				begin := time.Now()
				must(t, save(stores[0], pending(m)))
				got := <-told
				if took := time.Since(begin); took > c.most {
					t.Errorf("told after %v", took)
				}
				if !slices.Equal(got.Batches, []string{"bat_" + m}) {
					t.Errorf("told of %v, want %s", got, m)
				}
			}
		})
	}
}

func TestOwnAndOtherChangesAreAllTold(t *testing.T) {
	_, stores := two(t, Options{})
	told := make(chan gatelatch.Change, 1000)
	stores[1].Changes(t.Context(), func(c gatelatch.Change) { told <- c })
	want := map[string]bool{}
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprint("m", i))
		want[fmt.Sprint("bat_m", i)] = true
	}
	inParallel(8, names, func(i int, name string) {
		if err := save(stores[i%2], pending(name)); err != nil {
			t.Error(err)
		}
	})
	for len(want) > 0 && !t.Failed() {
		for _, id := range (<-told).Batches {
			delete(want, id)
		}
	}
}

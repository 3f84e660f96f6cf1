package postgres

import (
	"context"
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

func pause(tx gatelatch.Tx) error {
	c, err := tx.Control()
	if err != nil {
		return err
	}
	c.Pause.On = true
	return tx.SaveControl(c)
}

// What looked at the pause switch must not be committed after another gateway
// turned it.
func TestPauseHoldsForTheOtherGateway(t *testing.T) {
	_, stores := two(t, Options{})
	runs := 0
	err := stores[0].Update(t.Context(), func(tx gatelatch.Tx) error {
		runs++
		c, err := tx.Control()
		if err != nil {
			return err
		}
		if c.Pause.On {
			return gatelatch.ErrPaused
		}
		must(t, stores[1].Update(context.Background(), pause))
		return tx.SaveBatch(pending("m1"))
	})
	if !errors.Is(err, gatelatch.ErrPaused) || runs != 2 {
		t.Errorf("after %d runs: %v, want ErrPaused after 2", runs, err)
	}
	if n := len(trail(t, stores[0])); n != 0 {
		t.Errorf("%d events of what was refused", n)
	}
}

func TestControlIsOneAcrossGateways(t *testing.T) {
	_, stores := two(t, Options{})
	var names []string
	for range 64 {
		names = append(names, "")
	}
	inParallel(8, names, func(i int, _ string) {
		err := stores[i%2].Update(context.Background(), func(tx gatelatch.Tx) error {
			c, err := tx.Control()
			if err != nil {
				return err
			}
			c.Epoch++
			return tx.SaveControl(c)
		})
		if err != nil {
			t.Error(err)
		}
	})
	if c := view(t, stores[0], func(r gatelatch.Reader) (gatelatch.Control, error) { return r.Control() }); c.Epoch != 64 {
		t.Errorf("epoch %d after 64 raised it", c.Epoch)
	}
}

// D9: the same call id, asked at two gateways in one instant, is one batch.
func TestCallIsAskedOnceAcrossGateways(t *testing.T) {
	_, stores := two(t, Options{})
	var both sync.WaitGroup // have looked, and found nothing
	both.Add(2)
	ask := func(i int) (found string, err error) {
		looked := false
		err = stores[i].Update(context.Background(), func(tx gatelatch.Tx) error {
			b, err := tx.BatchOfRef(agent.ID, "s", "call_1")
			if err == nil {
				found = b.ID
				return nil
			}
			if !looked {
				looked = true
				both.Done()
				both.Wait()
			}
			b = pending(fmt.Sprint("m", i))
			b.Calls[0].Ref = "call_1"
			found = b.ID
			return tx.SaveBatch(b)
		})
		return found, err
	}
	type answer struct {
		id  string
		err error
	}
	answers := make(chan answer, 2)
	for i := range 2 {
		go func() { id, err := ask(i); answers <- answer{id, err} }()
	}
	a, b := <-answers, <-answers
	if a.err != nil || b.err != nil || a.id != b.id {
		t.Errorf("%+v and %+v, want one batch", a, b)
	}
}

// A session goes with its last batch, but not from under a new one.
func TestForgettingKeepsTheSessionOfANewBatch(t *testing.T) {
	_, stores := two(t, Options{})
	describe := func(tx gatelatch.Tx) error {
		_, err := tx.Session(agent.ID, "s")
		if errors.Is(err, gatelatch.ErrNotFound) {
			return tx.SaveSession(&gatelatch.Session{Agent: agent.ID, ID: "s"})
		}
		return err
	}
	must(t, stores[0].Update(t.Context(), func(tx gatelatch.Tx) error { return errors.Join(describe(tx), tx.SaveBatch(pending("m1"))) }))
	runs := 0
	must(t, stores[0].Update(t.Context(), func(tx gatelatch.Tx) error {
		if err := describe(tx); err != nil {
			return err
		}
		if runs++; runs == 1 {
			must(t, stores[1].Update(context.Background(), func(tx gatelatch.Tx) error { return tx.Forget("bat_m1") }))
		}
		return tx.SaveBatch(pending("m2"))
	}))
	p := view(t, stores[1], func(r gatelatch.Reader) (gatelatch.Page, error) { return r.List(gatelatch.Query{Pending: true}) })
	if len(p.Calls) != 1 || p.Calls[0].Session == nil || runs != 2 {
		t.Errorf("after %d runs: %+v", runs, p)
	}
}

// An input that one gateway takes for unneeded may be what another is about to
// need.
func TestForgettingKeepsTheInputOfANewCall(t *testing.T) {
	_, stores := two(t, Options{})
	must(t, save(stores[0], pending("m1")))
	must(t, stores[0].Update(t.Context(), func(tx gatelatch.Tx) error {
		if err := tx.SaveBatch(pending("m2")); err != nil { // with the same input
			return err
		}
		return stores[1].Update(context.Background(), func(tx gatelatch.Tx) error { return tx.Forget("bat_m1") })
	}))
	view(t, stores[1], func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_m2") })
}

func TestRetryLoadsAnew(t *testing.T) {
	_, stores := two(t, Options{})
	must(t, save(stores[0], pending("m1")))
	var seen []int64
	err := stores[0].Update(t.Context(), func(tx gatelatch.Tx) error {
		b, err := tx.Batch("bat_m1")
		if err != nil {
			return err
		}
		if seen = append(seen, b.Version); len(seen) == 1 {
			must(t, decide(stores[1], "cal_m1", "mira", gatelatch.Allowed))
		}
		if err := b.Claim("h", agent, tx.Now()); err != nil {
			return err
		}
		return tx.SaveBatch(b)
	})
	if err != nil || !slices.Equal(seen, []int64{1, 2}) {
		t.Errorf("loaded versions %v, %v", seen, err)
	}
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

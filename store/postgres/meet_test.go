package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gatelatch/gatelatch"
)

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

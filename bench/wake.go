package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

const (
	waiters     = 10_000
	decided     = 4000
	decideEvery = 5 * time.Millisecond
)

func wakeHere(r *rig) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := sqlite.Open(ctx, filepath.Join(r.dir, "gate.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	d, seen := watched(ctx, store, r.dir)
	return r.wake("decide → awake, one node on SQLite", d, d, seen, 25*time.Millisecond)
}

// wakeAcross has both nodes in this process, so that one clock times them. They
// share nothing but the database.
func wakeAcross(r *rig) (err error) {
	pg, err := startPostgres()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.Stop()) }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	deciding, err := pg.open(ctx, "gate")
	if err != nil {
		return err
	}
	defer func() { _ = deciding.Close() }()
	waiting, err := pg.open(ctx, "gate")
	if err != nil {
		return err
	}
	defer func() { _ = waiting.Close() }()
	d, seen := watched(ctx, waiting, r.dir)
	return r.wake("decide → awake on another node, PostgreSQL", newNode(ctx, deciding, r.dir), d, seen, 250*time.Millisecond)
}

// watchedStore counts reads, to know when everybody waits.
type watchedStore struct {
	gatelatch.Store
	views atomic.Int64
}

// View implements gatelatch.Store.
func (s *watchedStore) View(ctx context.Context, fn func(gatelatch.Reader) error) error {
	defer s.views.Add(1)
	return s.Store.View(ctx, fn)
}

func watched(ctx context.Context, store gatelatch.Store, project string) (node, *atomic.Int64) {
	s := &watchedStore{Store: store}
	return newNode(ctx, s, project), &s.views
}

// wait is one waiter's clock.
type wait struct {
	call                 *gatelatch.Call
	batch                string
	asked, sealed, awake time.Time // Decide called, Decide returned, Await returned
	err                  error
	done                 chan struct{}
}

// wake lets waiters wait at one node and decides some at the other: steadily,
// in any order, whether or not the one before is through.
func (r *rig) wake(what string, deciding, waiting node, views *atomic.Int64, limit time.Duration) error {
	ctx, stop := context.WithCancel(context.Background())
	ws := make([]wait, waiters)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	err := inParallel(clients, waiters, func(i int) (err error) {
		ws[i].call, ws[i].batch, err = waiting.propose(ctx, i)
		return err
	})
	if err != nil {
		return err
	}
	before := views.Load()
	for i := range ws {
		w := &ws[i]
		w.done = make(chan struct{})
		all.Go(func() {
			w.err = waiting.await(ctx, w.batch)
			w.awake = time.Now()
			close(w.done)
		})
	}
	for views.Load() < before+2*waiters { // each has read that its batch is its own, and not ready
		time.Sleep(10 * time.Millisecond)
	}
	chosen := rand.Perm(waiters)[:decided]
	if err := decideAll(ctx, deciding, ws, chosen); err != nil {
		return err
	}
	var whole, after sample
	for _, i := range chosen {
		w := &ws[i]
		if <-w.done; w.err != nil {
			return w.err
		}
		whole = append(whole, w.awake.Sub(w.asked))
		after = append(after, w.awake.Sub(w.sealed))
	}
	slices.Sort(whole)
	slices.Sort(after)
	note(fmt.Sprintf("%d waiters; %d decided, one each", waiters, decided), ms(decideEvery), "ms")
	whole.print("Decide called → Await returned, the batch opened durably")
	after.print("Decide returned → the same")
	r.most(what+", p99", ms(whole.p99()), ms(limit), "ms")
	return nil
}

func decideAll(ctx context.Context, d node, ws []wait, chosen []int) error {
	var all sync.WaitGroup
	errs := make([]error, len(chosen))
	begin := time.Now()
	for n, i := range chosen {
		time.Sleep(time.Until(begin.Add(time.Duration(n) * decideEvery)))
		w := &ws[i]
		w.asked = time.Now()
		all.Go(func() {
			errs[n] = d.decide(ctx, w.call)
			w.sealed = time.Now()
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

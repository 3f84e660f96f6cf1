package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/client"
)

// newest is what a person sees first.
var newest = gatelatch.Query{Pending: true, Newest: true, Limit: 50}

// grown is how much slower a list may be with a hundred times as much waiting:
// what two runs of the same differ by.
const grown = 1.5

// manyPending lists while more and more waits, then kills the gateway that has
// all of it and times how soon the next one serves.
func manyPending(r *rig) error {
	ctx := context.Background()
	if err := r.listing(ctx); err != nil {
		return err
	}
	g, _, err := r.gateway()
	if err != nil {
		return err
	}
	if err := g.killAtWork(ctx); err != nil {
		return err
	}
	begin := time.Now()
	if err := g.start(); err != nil {
		return err
	}
	defer g.stop()
	people, err := client.ForPeople(g.state)
	if err != nil {
		return err
	}
	page, err := people.Calls(ctx, "pending", "", newest.Limit)
	took := time.Since(begin)
	if err == nil && len(page.Calls) != newest.Limit {
		err = fmt.Errorf("the list has %d calls", len(page.Calls))
	}
	if err != nil {
		return err
	}
	r.most("after kill -9 with 100,000 pending: started and listed", took.Seconds(), 2, "s")
	return nil
}

// listing compares two stores in turn, one with a hundred times as much, so
// that whatever else the machine does hits both. It leaves the larger one.
func (r *rig) listing(ctx context.Context) error {
	few, err := waiting(ctx, filepath.Join(r.dir, "few"), 1000)
	if err != nil {
		return err
	}
	defer func() { _ = few.Close() }()
	many, err := waiting(ctx, r.dir, 100_000)
	if err != nil {
		return err
	}
	list := func(d node) func(int) error {
		return func(int) error {
			p, err := d.person.List(ctx, newest)
			if err == nil && len(p.Calls) != newest.Limit {
				err = fmt.Errorf("the list has %d calls", len(p.Calls))
			}
			return err
		}
	}
	lists, err := sideBySide(r.n, list(few.node), list(many.node))
	if err := errors.Join(err, many.Close()); err != nil {
		return err
	}
	lists[0].print(fmt.Sprintf("the newest %d of 1,000 pending", newest.Limit))
	lists[1].print(fmt.Sprintf("the newest %d of 100,000 pending", newest.Limit))
	r.most("listing, 100,000 pending by 1,000 pending", ms(lists[1].p50())/ms(lists[0].p50()), grown, "×")
	return nil
}

// waiting makes a store in which n calls wait.
func waiting(ctx context.Context, dir string, n int) (filled, error) {
	f, err := fill(ctx, dir)
	if err != nil {
		return f, err
	}
	begin := time.Now()
	err = inParallel(clients, n, func(i int) error { _, _, err := f.propose(ctx, i); return err })
	if err != nil {
		return f, errors.Join(err, f.Close())
	}
	note(fmt.Sprintf("proposing %d calls that wait", n), float64(n)/time.Since(begin).Seconds(), "per second")
	return f, nil
}

// killAtWork kills the gateway while agents propose, so that it leaves a log
// that nobody has tidied up.
func (g *gateway) killAtWork(ctx context.Context) error {
	agent, err := client.ForAgents(g.state)
	if err != nil {
		g.kill()
		return err
	}
	const enough = 2000
	var killed atomic.Bool
	err = inParallel(clients, 2*enough, func(i int) error {
		if i == enough {
			killed.Store(true)
			g.kill()
		}
		_, err := agent.Propose(ctx, proposal(string(g.state), 1_000_000+i))
		return err
	})
	if killed.Load() {
		return nil // and nobody was answered any more
	}
	g.kill()
	return errors.Join(errors.New("the gateway failed before it was killed"), err)
}

package main

import (
	"context"
	"errors"
	"fmt"
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
	f, err := fill(ctx, r.dir)
	if err != nil {
		return err
	}
	lists, err := r.listing(ctx, f.node)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	r.most("listing, 100,000 pending by 1,000 pending", ms(lists[2].p50())/ms(lists[0].p50()), grown, "×")
	bins, err := build(r.dir, "cmd/gatelatch")
	if err != nil {
		return err
	}
	g, err := newGateway(r.dir, bins["gatelatch"])
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

func (r *rig) listing(ctx context.Context, d node) (out []sample, err error) {
	done := 0
	for _, n := range []int{1000, 10_000, 100_000} {
		begin := time.Now()
		err := inParallel(clients, n-done, func(i int) error { _, _, err := d.propose(ctx, done+i); return err })
		if err != nil {
			return nil, err
		}
		rate := float64(n-done) / time.Since(begin).Seconds()
		done = n
		s, err := measure(r.n, func(int) error {
			p, err := d.person.List(ctx, newest)
			if err == nil && len(p.Calls) != newest.Limit {
				err = fmt.Errorf("the list has %d calls", len(p.Calls))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		s.print(fmt.Sprintf("the newest %d of %d pending (proposed at %.0f/s)", newest.Limit, n, rate))
		out = append(out, s)
	}
	return out, nil
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

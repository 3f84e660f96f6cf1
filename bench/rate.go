package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
)

// How durable propose-and-decides are counted: in rounds, the product's and
// the bare one in turn, so that whatever else the machine does hits both.
const (
	clients = 64
	rounds  = 25
	perTurn = 400
	warmUp  = 500
)

// bareFn writes the rows of one change and returns when they are durable.
type bareFn func(change) error

// sideRates prints both rates and holds the product's against the bare one's.
func (r *rig) sideRates(d node, ops []op, bare bareFn, least float64) error {
	ctx := context.Background()
	product := func(i int) error {
		c, _, err := d.propose(ctx, i)
		if err != nil {
			return err
		}
		return d.decide(ctx, c)
	}
	raw := func(i int) error {
		if err := bare(ops[i].propose); err != nil {
			return err
		}
		return bare(ops[i].decide)
	}
	var rates [2][]float64
	for round := range rounds + 1 {
		from, n := warmUp+(round-1)*perTurn, perTurn
		if round == 0 { // does not count
			from, n = 0, warmUp
		}
		for k, fn := range []func(int) error{product, raw} {
			start := time.Now()
			if err := inParallel(clients, n, func(i int) error { return fn(from + i) }); err != nil {
				return err
			}
			if round > 0 {
				rates[k] = append(rates[k], float64(n)/time.Since(start).Seconds())
			}
		}
	}
	note(fmt.Sprintf("the same rows bare, %d clients, median of %d", clients, rounds), median(rates[1]), "ops/s (an op is two durable changes)")
	note(fmt.Sprintf("propose+decide through Service, %d clients", clients), median(rates[0]), "ops/s")
	fmt.Printf("%58s product %.0f, bare %.0f\n", "each round:", rates[0], rates[1])
	r.least("product by bare", median(rates[0])/median(rates[1]), least, "×")
	return nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// recordOps lets the product propose and decide what a run needs, and returns
// the rows that it wrote for each.
func recordOps(store gatelatch.Store, project, placeholder string, read func(name string) (table, error)) ([]op, error) {
	const n = warmUp + rounds*perTurn
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	d := newNode(ctx, store, project)
	calls := make([]*gatelatch.Call, n)
	err := inParallel(clients, n, func(i int) (err error) { calls[i], _, err = d.propose(ctx, i); return err })
	if err != nil {
		return nil, err
	}
	settled := func(gatelatch.Reader) error { return nil } // who reads through the store waits for the tables
	if err := store.View(ctx, settled); err != nil {
		return nil, err
	}
	before, err := dump(read)
	if err != nil {
		return nil, err
	}
	if err := inParallel(clients, n, func(i int) error { return d.decide(ctx, calls[i]) }); err != nil {
		return nil, err
	}
	if err := store.View(ctx, settled); err != nil {
		return nil, err
	}
	after, err := dump(read)
	if err != nil {
		return nil, err
	}
	return opsOf(before, after, placeholder)
}

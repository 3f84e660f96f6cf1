package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// Agents ask at twice the rate that was answered, over more lines than are let
// ask at once, while a person decides.
const (
	floodLines  = 2000
	floodTime   = 8 * time.Second
	capacityFor = 3 * time.Second
	decideRate  = 25
)

// overload times decisions while agents ask for twice what the gateway can do.
func overload(r *rig) error {
	if err := mayOpen(floodLines + 500); err != nil {
		return err
	}
	ctx := context.Background()
	f, err := fill(ctx, r.dir)
	if err != nil {
		return err
	}
	calls := make([]*gatelatch.Call, int(decideRate*floodTime.Seconds()))
	err = inParallel(clients, len(calls), func(i int) (err error) { calls[i], _, err = f.propose(ctx, i); return err })
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	bins, err := build(r.dir, "cmd/gatelatch")
	if err != nil {
		return err
	}
	g, err := newGateway(r.dir, bins["gatelatch"])
	if err != nil {
		return err
	}
	defer g.stop()
	d, err := g.doors()
	if err != nil {
		return err
	}
	people, err := client.ForPeople(g.state)
	if err != nil {
		return err
	}
	lines := make([]*line, floodLines)
	defer func() {
		for _, l := range lines {
			if l != nil {
				_ = l.conn.Close()
			}
		}
	}()
	var shed, answered atomic.Int64
	var next atomic.Int64
	ask := func(k int) (err error) {
		if lines[k] == nil { // who connects and says nothing is cut off
			if lines[k], err = dial("unix", d.agentSocket); err != nil {
				return err
			}
		}
		body, err := lines[k].do(settledProposal(d, api.SocketHost, r.dir, int(next.Add(1))))
		if err != nil && bytes.Contains(body, []byte(`"code":"busy"`)) {
			shed.Add(1)
			return nil
		}
		answered.Add(1)
		return err
	}
	capacity, err := capacityOf(ask)
	if err != nil {
		return err
	}
	shed.Store(0)
	answered.Store(0)
	var took sample
	var all sync.WaitGroup
	var failed [2]error
	all.Go(func() {
		_, failed[0] = openLoop(floodLines, int(2*capacity*floodTime.Seconds()), int(2*capacity), func(k, _ int) error { return ask(k) })
	})
	all.Go(func() {
		took, failed[1] = openLoop(64, len(calls), decideRate, func(_, i int) error {
			_, err := people.Decide(ctx, calls[i].ID, api.Decision{State: "allowed", Digest: calls[i].Digest.String()})
			return err
		})
	})
	all.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		return err
	}
	slices.Sort(took)
	note("asks a second that the gateway can answer", capacity, "")
	note(fmt.Sprintf("of %d at twice that rate, sent away", shed.Load()+answered.Load()), float64(shed.Load()), "")
	took.print("a decision meanwhile")
	r.most("a decision at twice the capacity, p99", ms(took.p99()), 250, "ms")
	return nil
}

// capacityOf lets as many ask as are let in at once, each as soon as it can.
func capacityOf(ask func(k int) error) (perSecond float64, err error) {
	var done atomic.Int64
	begin := time.Now()
	err = inParallel(clients, clients, func(k int) error {
		for time.Since(begin) < capacityFor {
			if err := ask(k); err != nil {
				return err
			}
			done.Add(1)
		}
		return nil
	})
	return float64(done.Load()) / time.Since(begin).Seconds(), err
}

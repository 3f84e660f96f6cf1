package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
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
	calls, _, err := waitingCalls(context.Background(), r.dir, int(decideRate*floodTime.Seconds()))
	if err != nil {
		return err
	}
	g, d, err := r.gateway()
	if err != nil {
		return err
	}
	defer g.stop()
	asks := settledProposals(d, api.SocketHost, r.dir)
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
		body, err := lines[k].do(asks.number(int(next.Add(1))))
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
		took, failed[1] = decideAside(g.state, calls)
	})
	all.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		return err
	}
	note("asks a second that the gateway can answer", capacity, "")
	note(fmt.Sprintf("of %d at twice that rate, sent away", shed.Load()+answered.Load()), float64(shed.Load()), "")
	took.print("a decision meanwhile")
	r.most("a decision at twice the capacity, p99", ms(took.p99()), 250, "ms")
	return nil
}

// deciderEnv makes this program the person of its own measurement: whoever asks
// has to share a process with nobody, and so has who decides.
const deciderEnv = "GATELATCH_BENCH_DECIDER"

// decideAside decides the calls in a process of its own, at a steady rate.
func decideAside(state statedir.Dir, calls []*gatelatch.Call) (out sample, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	work, err := json.Marshal(calls)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stdin, cmd.Stderr = append(os.Environ(), deciderEnv+"="+string(state)), bytes.NewReader(work), os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(said, &out)
	return out, err
}

// playDecider reads what to decide and prints how long each took.
func playDecider(state statedir.Dir) error {
	var calls []*gatelatch.Call
	if err := json.NewDecoder(os.Stdin).Decode(&calls); err != nil {
		return err
	}
	people, err := client.ForPeople(state)
	if err != nil {
		return err
	}
	took, err := openLoop(len(calls), len(calls), decideRate, func(_, i int) error {
		_, err := people.Decide(context.Background(), calls[i].ID, api.Decision{State: "allowed", Digest: calls[i].Digest.String()})
		return err
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(took)
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

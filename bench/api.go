package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// How hard agents ask, whether or not they are answered, and for how long.
const (
	apiLines = 64
	apiRate  = 2000
	apiTime  = 10 * time.Second
	apiWarm  = time.Second

	apiOverhead = 200 * time.Microsecond
)

// apiSpeed times an agent's request over the socket of the real gateway, for a
// call that policy settles: alone, beside a bare commit, and under load.
func apiSpeed(r *rig) error {
	g, d, err := r.gateway()
	if err != nil {
		return err
	}
	defer g.stop()
	asks := settledProposals(d, api.SocketHost, r.dir)
	lines := make([]*line, apiLines)
	defer func() {
		for _, l := range lines {
			if l != nil {
				_ = l.conn.Close()
			}
		}
	}()
	propose := func(k, i int) (err error) {
		if lines[k] == nil { // who connects and says nothing is cut off
			if lines[k], err = dial("unix", d.agentSocket); err != nil {
				return err
			}
		}
		body, err := lines[k].do(asks.number(i))
		if err == nil && !bytes.Contains(body, []byte(`"consumed"`)) {
			err = fmt.Errorf("the gateway answered %s", body)
		}
		return err
	}
	commit, closeDB, err := bareCommit(r.dir)
	if err != nil {
		return err
	}
	defer closeDB()
	alone, err := sideBySide(r.n, commit, func(i int) error { return propose(0, i) })
	if err != nil {
		return err
	}
	from := 1_000_000
	if _, err := openLoop(apiLines, int(apiRate*apiWarm.Seconds()), apiRate, func(k, i int) error { return propose(k, from+i) }); err != nil {
		return err
	}
	from *= 2
	loaded, err := openLoop(apiLines, int(apiRate*apiTime.Seconds()), apiRate, func(k, i int) error { return propose(k, from+i) })
	if err != nil {
		return err
	}
	alone[0].print("one bare SQLite commit (WAL, synchronous=FULL)")
	alone[1].print("propose settled by policy, Unix socket, one at a time")
	loaded.print(fmt.Sprintf("the same, %d a second, from when each was due", apiRate))
	r.most("propose settled by policy, p50, by one commit + 0.2 ms", ms(alone[1].p50()), ms(alone[0].p50()+apiOverhead), "ms")
	r.most(fmt.Sprintf("propose settled by policy, p99, at %d a second", apiRate), ms(loaded.p99()), 5, "ms")
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

const (
	herdWait    = 3 // seconds that each of them waits at most
	herdDecides = 100
)

// herd lets all agents come at once that wait for an answer, as after the
// gateway was away, and decides meanwhile.
func herd(r *rig) error {
	if err := mayOpen(connections + 500); err != nil {
		return err
	}
	calls, batches, err := waitingCalls(context.Background(), r.dir, connections)
	if err != nil {
		return err
	}
	g, d, err := r.gateway()
	if err != nil {
		return err
	}
	defer g.stop()
	var decided sample
	failed := make(chan error, 1)
	go func() {
		var err error
		decided, err = decideAside(g.state, calls[:herdDecides])
		failed <- err
	}()
	all := crowd{conns: make([]net.Conn, connections), seen: make([][]byte, connections)}
	defer all.close()
	begin := time.Now()
	err = inParallel(connections, connections, func(i int) (err error) {
		for { // more at once than the system lets stand in line
			if all.conns[i], err = net.Dial("unix", d.agentSocket); !errors.Is(err, syscall.EAGAIN) {
				break
			}
			time.Sleep(50*time.Millisecond + time.Duration(i%100)*time.Millisecond)
		}
		if err != nil {
			return err
		}
		body, _ := strictjson.Marshal(api.Await{Hold: api.Hold{Holder: "holder-of-" + batches[i]}, Wait: herdWait})
		_, err = io.WriteString(all.conns[i], fmt.Sprintf("POST /v1/batches/%s/await HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			batches[i], api.SocketHost, d.agentKey, len(body), body))
		return err
	})
	if err == nil { // each is answered, or told to come again
		err = all.expect("HTTP/1.0 20", time.Minute)
	}
	took := time.Since(begin)
	if err := errors.Join(err, <-failed); err != nil {
		return err
	}
	note(fmt.Sprintf("%d agents come at once, each to wait %d s: all answered", connections, herdWait), took.Seconds(), "s")
	decided.print("a decision meanwhile")
	return nil
}

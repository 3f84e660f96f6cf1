package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The slow ones come again as soon as they are cut off: half of them never end
// their headers, half have a key and never end their body.
const (
	slowOnes    = 5000
	slowHeaders = 5 * time.Second
	slowBodies  = 30 * time.Second
	honestRate  = 200
	honestTime  = 5 * time.Second
	slowRounds  = 3
)

// slowloris times an honest agent that connects for each request, at the door
// that the slow ones hold open, in turn with and without them.
func slowloris(r *rig) error {
	if err := mayOpen(slowOnes + 500); err != nil {
		return err
	}
	g, d, err := r.gateway()
	if err != nil {
		return err
	}
	defer g.stop()
	n := int(honestRate * honestTime.Seconds())
	from, asks := 0, settledProposals(d, d.personAddr, r.dir)
	honest := func() (sample, error) {
		from += n
		return openLoop(16, n, honestRate, func(_, i int) error { return d.freshProposal(asks, from+i) })
	}
	if _, err := honest(); err != nil { // does not count
		return err
	}
	var calm, beside sample
	for range slowRounds {
		s, err := honest()
		if err != nil {
			return err
		}
		calm = append(calm, s...)
		attack := newSlow(d)
		if err := attack.ready(); err != nil {
			return err
		}
		s, err = honest()
		attack.end()
		if err != nil {
			return err
		}
		beside = append(beside, s...)
		if err := g.rest(); err != nil {
			return err
		}
	}
	slices.Sort(calm)
	slices.Sort(beside)
	calm.print(fmt.Sprintf("an honest agent over TCP, a connection each, %d a second", honestRate))
	beside.print(fmt.Sprintf("the same among %d slow ones", slowOnes))
	r.most("honest p99, among the slow by undisturbed", ms(beside.p99())/ms(calm.p99()), 2, "×")
	return nil
}

// freshProposal asks over a connection of its own.
func (d doors) freshProposal(asks proposals, i int) error {
	l, err := dial("tcp", d.personAddr)
	if err != nil {
		return err
	}
	defer func() { _ = l.conn.Close() }()
	_, err = l.do(asks.number(i))
	return err
}

// slow is the crowd of slow ones at work.
type slow struct {
	d    doors
	stop context.CancelFunc
	all  sync.WaitGroup
	open atomic.Int64
}

func newSlow(d doors) *slow {
	ctx, stop := context.WithCancel(context.Background())
	s := &slow{d: d, stop: stop}
	for i := range slowOnes {
		s.all.Go(func() {
			pause(ctx, time.Duration(i)*time.Millisecond/2) // they don't all knock at once
			for ctx.Err() == nil {
				s.hold(ctx, i)
			}
		})
	}
	return s
}

// hold opens one connection, sends a byte now and then, and closes it when the
// gateway does, or when it surely has.
func (s *slow) hold(ctx context.Context, i int) {
	c, err := net.Dial("tcp", s.d.personAddr)
	if err != nil {
		pause(ctx, time.Second)
		return
	}
	s.open.Add(1)
	defer func() { _ = c.Close(); s.open.Add(-1) }()
	head := fmt.Sprintf("POST /v1/batches HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n", s.d.personAddr, s.d.agentKey)
	life := slowHeaders
	if i%2 == 0 {
		head, life = head+"\r\n{", slowBodies
	}
	if _, err := io.WriteString(c, head); err != nil {
		return
	}
	for range life / (5 * time.Second) {
		pause(ctx, 5*time.Second)
		if _, err := c.Write([]byte{' '}); err != nil || ctx.Err() != nil {
			return
		}
	}
}

// ready waits until nearly all are there.
func (s *slow) ready() error {
	for end := time.Now().Add(time.Minute); s.open.Load() < slowOnes*9/10; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("only %d slow ones could connect", s.open.Load())
		}
	}
	return nil
}

func (s *slow) end() { s.stop(); s.all.Wait() }

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// The dead never read, and have much to read: what they are sent gets stuck.
const (
	dead       = connections / 10
	deadBehind = 2000 // calls in the trail that each of them wants
	deadGets   = 256 << 10
	fanRounds  = 5
)

// fanOut times one decision until every subscriber has it, first with all of
// them alive, then with a tenth that never reads.
func fanOut(r *rig) error {
	ctx := context.Background()
	f, err := fill(ctx, r.dir)
	if err != nil {
		return err
	}
	calls := make([]string, deadBehind)
	err = inParallel(clients, len(calls), func(i int) error {
		c, _, err := f.propose(ctx, i)
		if err == nil {
			calls[i] = c.ID
		}
		return err
	})
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	g, d, _, err := r.idleGateway()
	if err != nil {
		return err
	}
	defer g.stop()
	people, err := client.ForPeople(g.state)
	if err != nil {
		return err
	}
	st, err := people.Status(ctx)
	if err != nil {
		return err
	}
	var live crowd
	defer live.close()
	if err := live.join("tcp", d.personAddr, connections, func(int) string { return d.follow(st.Seq) }); err != nil {
		return err
	}
	if err := live.expect(": open", time.Minute); err != nil {
		return err
	}
	alive, err := fanRound(ctx, people, &live, calls)
	if err != nil {
		return err
	}
	live.leave(dead)
	if err := d.awaitFollowers(len(live.conns), time.Minute); err != nil {
		return err
	}
	var stuck crowd
	defer stuck.close()
	if err := stuck.joinDead(d); err != nil {
		return err
	}
	beside, err := fanRound(ctx, people, &live, calls[fanRounds:])
	if err != nil {
		return err
	}
	if err := d.awaitFollowers(len(live.conns), 2*time.Minute); err != nil {
		return err
	}
	if err := stuck.cutOff(); err != nil {
		return err
	}
	alive.print(fmt.Sprintf("a decision sent → %d subscribers have it, all alive", connections))
	beside.print(fmt.Sprintf("the same to %d, beside %d that never read", len(live.conns), dead))
	r.most(fmt.Sprintf("one decision to %d subscribers, the slowest of %d", connections, fanRounds), alive.at(1).Seconds(), 1, "s")
	r.most("the same beside a dead tenth", beside.at(1).Seconds(), 1, "s")
	return nil
}

// fanRound decides one call after the other, and times each until all know.
func fanRound(ctx context.Context, people *client.Client, c *crowd, calls []string) (out sample, err error) {
	for _, id := range calls[:fanRounds] {
		shown, err := people.Call(ctx, id)
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		failed := make(chan error, 1)
		go func() {
			_, err := people.Decide(ctx, id, api.Decision{State: "allowed", Digest: shown.Digest})
			failed <- err
		}()
		err = c.expect("event: call.decided", time.Minute)
		out = append(out, time.Since(begin))
		if err := errors.Join(<-failed, err); err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return out, nil
}

// joinDead adds those who want the whole trail and read none of it.
func (c *crowd) joinDead(d doors) error {
	c.conns = make([]net.Conn, dead)
	dialer := net.Dialer{Control: narrow}
	return inParallel(clients, dead, func(i int) (err error) {
		if c.conns[i], err = dialer.Dial("tcp", d.personAddr); err != nil {
			return err
		}
		_, err = io.WriteString(c.conns[i], d.follow(0))
		return err
	})
}

// awaitFollowers waits until the gateway has let go of all but so many.
func (d doors) awaitFollowers(n int, within time.Duration) error {
	for end := time.Now().Add(within); ; time.Sleep(time.Second) {
		text, err := d.numbers()
		if err != nil || bytes.Contains(text, fmt.Appendf(nil, "\ngatelatch_stream_subscribers %d\n", n)) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("not only the %d living follow the trail", n)
		}
	}
}

func (d doors) numbers() ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, "http://"+d.personAddr+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+d.personKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(res.Body)
}

// cutOff checks that the dead were: each was sent a little, then nothing more.
func (c *crowd) cutOff() error {
	return inParallel(clients, len(c.conns), func(i int) error {
		_ = c.conns[i].SetReadDeadline(time.Now().Add(time.Minute))
		n, err := io.Copy(io.Discard, c.conns[i])
		if n > deadGets || errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("one that never read was sent %d bytes: %w", n, err)
		}
		return nil
	})
}

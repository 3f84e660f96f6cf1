package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// connections is how many clients wait at once; arrival is when the next comes.
const (
	connections = 10_000
	arrival     = 2 * time.Millisecond
)

// pollMemory is what the gateway needs for each agent that waits for a batch of
// its own, on the agents' socket.
func pollMemory(r *rig) error {
	_, batches, err := waitingCalls(context.Background(), r.dir, connections)
	if err != nil {
		return err
	}
	g, d, before, err := r.idleGateway()
	if err != nil {
		return err
	}
	defer g.stop()
	var conns crowd
	defer conns.close()
	err = conns.join("unix", d.agentSocket, connections, func(i int) string {
		body, _ := strictjson.Marshal(api.Await{Hold: api.Hold{Holder: "holder-of-" + batches[i]}})
		return fmt.Sprintf("POST /v1/batches/%s/await HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			batches[i], api.SocketHost, d.agentKey, len(body), body)
	})
	if err == nil {
		err = g.rest()
	}
	if err != nil {
		return err
	}
	waiting, err := residentKiB(g.cmd.Process.Pid)
	if err != nil {
		return err
	}
	// Each is told to come again: so each was waiting.
	if err := conns.expect("HTTP/1.0 202 Accepted\r\n", api.MaxWait+10*time.Second); err != nil {
		return err
	}
	r.perClient("a request that waits, resident", before, waiting, 24)
	return nil
}

// streamMemory is what the gateway needs for each page that follows the trail.
func streamMemory(r *rig) error {
	g, d, before, err := r.idleGateway()
	if err != nil {
		return err
	}
	defer g.stop()
	people, err := client.ForPeople(g.state)
	if err != nil {
		return err
	}
	st, err := people.Status(context.Background())
	if err != nil {
		return err
	}
	var conns crowd
	defer conns.close()
	err = conns.join("tcp", d.personAddr, connections, func(int) string { return d.follow(st.Seq) })
	if err == nil {
		err = conns.expect(": open", time.Minute)
	}
	if err == nil {
		err = g.rest()
	}
	if err != nil {
		return err
	}
	waiting, err := residentKiB(g.cmd.Process.Pid)
	if err != nil {
		return err
	}
	r.perClient("an event stream, resident", before, waiting, 40)
	begin := time.Now()
	if _, err := people.Pause(context.Background(), ""); err != nil {
		return err
	}
	if err := conns.expect("event: gate.paused", time.Minute); err != nil {
		return err
	}
	note(fmt.Sprintf("one event to %d streams", connections), ms(time.Since(begin)), "ms, until the last has it")
	if err := g.rest(); err != nil {
		return err
	}
	if waiting, err = residentKiB(g.cmd.Process.Pid); err != nil {
		return err
	}
	r.perClient("an event stream that got an event, resident", before, waiting, 40)
	return nil
}

// follow is the request of who follows the trail behind an event.
func (d doors) follow(after int64) string {
	return fmt.Sprintf("GET /v1/events?after=%d HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", after, d.personAddr, d.personKey)
}

// idleGateway starts a gateway that has answered a little, and returns what it
// needs for itself.
func (r *rig) idleGateway() (*gateway, doors, float64, error) {
	if err := mayOpen(connections + 200); err != nil {
		return nil, doors{}, 0, err
	}
	g, d, err := r.gateway()
	if err != nil {
		return nil, d, 0, err
	}
	before, err := g.warm()
	if err != nil {
		g.stop()
	}
	return g, d, before, err
}

// warm lets the gateway answer a while, and returns what it needs then.
func (g *gateway) warm() (before float64, err error) {
	people, err := client.ForPeople(g.state)
	if err != nil {
		return 0, err
	}
	for range 100 {
		if _, err := people.Status(context.Background()); err != nil {
			return 0, err
		}
	}
	if err := g.rest(); err != nil {
		return 0, err
	}
	return residentKiB(g.cmd.Process.Pid)
}

func (r *rig) perClient(what string, before, now, limit float64) {
	note(fmt.Sprintf("the gateway, %.1f MiB idle, with %d of them", before/1024, connections), now/1024, "MiB")
	r.most(what, (now-before)/connections, limit, "KiB")
}

// crowd is many connections, each with as little as possible on this side.
type crowd struct {
	conns []net.Conn
	seen  [][]byte // what each was sent and nobody asked for yet
}

// join connects and sends each request, one after the other: a crowd that
// knocks at once costs what it costs to let it in, not what it costs to wait.
func (c *crowd) join(network, addr string, n int, request func(i int) string) (err error) {
	c.conns, c.seen = make([]net.Conn, n), make([][]byte, n)
	begin := time.Now()
	for i := range c.conns {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * arrival)))
		if c.conns[i], err = net.Dial(network, addr); err != nil {
			return err
		}
		if _, err = io.WriteString(c.conns[i], request(i)); err != nil {
			return err
		}
	}
	return nil
}

// expect reads until each was sent the text.
func (c *crowd) expect(text string, within time.Duration) error {
	end := time.Now().Add(within)
	var missing atomic.Int64
	err := inParallel(len(c.conns), len(c.conns), func(i int) error {
		_ = c.conns[i].SetReadDeadline(end)
		buf := make([]byte, 2048)
		for {
			if at := bytes.Index(c.seen[i], []byte(text)); at >= 0 {
				c.seen[i] = bytes.Clone(c.seen[i][at+len(text):])
				return nil
			}
			n, err := c.conns[i].Read(buf)
			c.seen[i] = append(c.seen[i], buf[:n]...)
			if err != nil {
				missing.Add(1)
				return fmt.Errorf("no %q: %w after %q", text, err, c.seen[i])
			}
		}
	})
	if err != nil {
		err = fmt.Errorf("%d of %d: %w", missing.Load(), len(c.conns), err)
	}
	return err
}

// leave closes the last n of them.
func (c *crowd) leave(n int) {
	stay := len(c.conns) - n
	gone := crowd{conns: c.conns[stay:]}
	gone.close()
	c.conns, c.seen = c.conns[:stay], c.seen[:stay]
}

func (c *crowd) close() {
	for _, conn := range c.conns {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gatelatch/gatelatch/server"
)

// peer is the process at the other end of a Unix socket, as the kernel says.
type peer struct {
	uid int
	pid int // 0 if it can't be told
}

// errNoPeers means that this system does not tell who connects; see docs/access.md.
var errNoPeers = errors.New("this system does not tell who connects")

// peers decides who may be at the other end of the two sockets.
type peers struct {
	us     int
	agents []int       // uids that may ask, beside our own
	near   atomic.Bool // an agent asked that may run as our own user
	roster roster
	work   func(func())
}

type connKey struct{}

// meet is what is known about a connection, looked up once.
type meet struct {
	peer
	err     error
	descent func() error // nil if it is nobody's agent
	asks    func()       // it does as agents do
}

// context notes who connects. It is called between two accepts, and does no more.
func (p *peers) context() func(context.Context, net.Conn) context.Context {
	return func(ctx context.Context, c net.Conn) context.Context {
		m := &meet{}
		m.peer, m.err = peerOf(c)
		m.descent = sync.OnceValue(func() error { return p.roster.refuse(m.pid) })
		m.asks = sync.OnceFunc(func() { p.work(func() { p.roster.note(m.pid) }) }) // nobody waits for it
		if m.err == nil {
			ctx = server.WithPeer(ctx, "user "+strconv.Itoa(m.uid))
		}
		return context.WithValue(ctx, connKey{}, m)
	}
}

// mayAsk lets in our own user and those that the configuration names.
func (p *peers) mayAsk(r *http.Request) error {
	return p.known(r, func(m *meet) error {
		if m.uid != p.us && !slices.Contains(p.agents, m.uid) {
			return fmt.Errorf("user %d may not ask here; name them under agent_users in config.yaml", m.uid)
		}
		if m.pid > 0 && !onlyReads(r) {
			m.asks()
		}
		return nil
	})
}

// onlyReads tells the doctor from an agent.
func onlyReads(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Upgrade") == ""
}

// mayDecide lets in our own user, unless an agent started the process.
func (p *peers) mayDecide(r *http.Request) error {
	return p.known(r, func(m *meet) error {
		if m.uid != p.us {
			return fmt.Errorf("user %d may not decide here", m.uid)
		}
		return m.descent()
	})
}

func (p *peers) known(r *http.Request, may func(*meet) error) error {
	m, ok := r.Context().Value(connKey{}).(*meet)
	switch {
	case !ok:
		return errors.New("nobody knows who asks")
	case errors.Is(m.err, errNoPeers):
		return nil // the socket's mode has to do
	case m.err != nil:
		return m.err
	}
	return may(m)
}

// userIDs reads names or numbers of users.
func userIDs(names []string) (ids []int, err error) {
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil {
			u, e := user.Lookup(name)
			if e != nil {
				return nil, fmt.Errorf("agent_users: %w", e)
			}
			if id, err = strconv.Atoi(u.Uid); err != nil {
				return nil, fmt.Errorf("agent_users: %s has no number here", name)
			}
		}
		if id < 0 {
			return nil, fmt.Errorf("agent_users: %d is nobody's number", id)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func newPeers(cfg config, work func(func())) (*peers, error) {
	ids, err := userIDs(cfg.AgentUsers)
	return &peers{us: os.Geteuid(), agents: ids, work: work, roster: roster{table: processes, self: os.Getpid()}}, err
}

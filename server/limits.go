package server

import (
	"container/list"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/gatelatch/gatelatch/api"
)

// How many connections all doors hold together, if the system lets a process
// have so many files open, and how many of those stay free for other files.
const (
	maxConns   = 32 << 10
	spareFiles = 512
)

// Shares of all connections.
const (
	perAddress  = 8 // one machine has at most an eighth of them
	forPeople   = 8 // an eighth is kept for doors where no agent comes in
	anybodyBody = 16 << 10
	maxHeader   = 16 << 10

	streamBuffer = 64 << 10
)

// lobby is everybody who is connected, at whichever door. When it is full, who
// has been there longest without a whole request makes room: a client that
// dribbles bytes keeps nobody out.
type lobby struct {
	mu     sync.Mutex
	most   int
	n      int
	from   map[netip.Addr]int
	asking list.List // of *guest: those without a whole request, the longest first
}

// guest is one connection.
type guest struct {
	net.Conn
	lobby *lobby
	addr  netip.Addr    // of another machine; invalid for this one
	place *list.Element // in asking; nil while the gateway works for it
	kept  bool          // net/http has let go of it
	gone  bool

	wicket      wicket      // nil where no agent comes in
	people      bool        // come in here, too
	agent       atomic.Bool // spoke last
	there, busy atomic.Bool
}

// Limit returns ln with a bound on the connections that are open at once. d is
// the door that it leads to.
func (s *Server) Limit(ln net.Listener, d Door) net.Listener {
	b := &bounded{Listener: ln, lobby: &s.lobby, agents: d.has(api.Agents), people: d.has(api.People)}
	if b.agents {
		b.wicket = s.wicket
	}
	return b
}

type bounded struct {
	net.Listener
	lobby  *lobby
	agents bool
	people bool
	wicket wicket
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if g := b.lobby.admit(c, b.agents); g != nil {
			g.wicket, g.people = b.wicket, b.people
			g.agent.Store(!b.people)
			return g, nil
		}
		_ = c.Close()
	}
}

// admit returns the guest, or nil if there is no room.
func (l *lobby) admit(c net.Conn, agents bool) *guest {
	g := &guest{Conn: c, lobby: l}
	if a, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil && !a.Addr().Unmap().IsLoopback() {
		g.addr = a.Addr().Unmap()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.most
	if agents {
		most -= most / forPeople
	}
	if g.addr.IsValid() && l.from[g.addr] >= max(1, l.most/perAddress) {
		return nil
	}
	if l.n >= most && !l.evict() {
		return nil
	}
	l.n++
	if g.addr.IsValid() {
		l.from[g.addr]++
	}
	g.place = l.asking.PushBack(g)
	return g
}

func (l *lobby) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// evict makes room for one. The lock is held.
func (l *lobby) evict() bool {
	first := l.asking.Front()
	if first == nil {
		return false
	}
	g, _ := first.Value.(*guest)
	g.forget()
	_ = g.Conn.Close()
	return true
}

// forget takes the guest off the list. The lock is held.
func (g *guest) forget() {
	if g.gone {
		return
	}
	g.gone = true
	if g.place != nil {
		g.lobby.asking.Remove(g.place)
		g.place = nil
	}
	g.lobby.n--
	if g.addr.IsValid() {
		if g.lobby.from[g.addr]--; g.lobby.from[g.addr] == 0 {
			delete(g.lobby.from, g.addr)
		}
	}
}

// Close implements net.Conn.
func (g *guest) Close() error {
	g.leave()
	g.lobby.mu.Lock()
	g.forget()
	g.lobby.mu.Unlock()
	return g.Conn.Close()
}

// NetConn returns the connection below, as that of a tls.Conn does.
func (g *guest) NetConn() net.Conn { return g.Conn }

// CloseWrite lets net/http end an answer to who is still sending: closed at
// once, TCP would take it away.
func (g *guest) CloseWrite() error {
	if !endWriting(g.Conn) {
		return errors.ErrUnsupported
	}
	return nil
}

// served says that the whole request is there, and rests that it is answered.
func (g *guest) served() { g.move(false) }
func (g *guest) rests()  { g.move(true) }

// keeps is served for good: when the answer is over, so is the connection.
func (g *guest) keeps() {
	g.served()
	if g != nil {
		g.lobby.mu.Lock()
		defer g.lobby.mu.Unlock()
		g.kept = true
	}
}

func (g *guest) move(asks bool) {
	if g == nil {
		return
	}
	if g.busy.Store(!asks); !asks {
		g.leave()
	}
	g.lobby.mu.Lock()
	defer g.lobby.mu.Unlock()
	switch {
	case g.gone, g.kept:
	case asks && g.place == nil:
		g.place = g.lobby.asking.PushBack(g)
	case !asks && g.place != nil:
		g.lobby.asking.Remove(g.place)
		g.place = nil
	}
}

// Below returns the connection that the system knows, whatever is around it.
func Below(c net.Conn) net.Conn {
	for {
		around, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = around.NetConn()
	}
}

// narrow bounds what the system keeps for a client that does not read.
func narrow(c net.Conn) {
	if b, ok := Below(c).(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = b.SetWriteBuffer(streamBuffer) // then it keeps what it likes
	}
}

type guestKey struct{}

// connContext lets a request find its connection.
func connContext(ctx context.Context, c net.Conn) context.Context {
	for {
		if g, ok := c.(*guest); ok {
			return context.WithValue(ctx, guestKey{}, g)
		}
		below, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return ctx
		}
		c = below.NetConn()
	}
}

// guestOf is nil where nobody counts connections.
func guestOf(r *http.Request) *guest {
	g, _ := r.Context().Value(guestKey{}).(*guest)
	return g
}

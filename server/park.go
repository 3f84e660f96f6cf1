package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/auth"
)

// A waiter is a request that is not answered yet.
type waiter interface {
	// turn does what can be done now, and says until when to wait for more. The
	// zero time is the end, as is an error.
	turn(q *request) (until time.Time, err error)
	// leave is called once, at the end.
	leave()
}

// parked is a request that waits without net/http, whose buffers and deep stack
// are most of what waiting costs. What stays is the connection and one small
// goroutine, asleep in a read: that ends when the client is gone, too.
type parked struct {
	waiter
	q      *request
	w      *reply
	conn   net.Conn
	unstop func() bool
	unkey  func() // stops looking whether the key still lets in

	mu           sync.Mutex
	rung, asleep bool
	keyless      bool // its key ended
	junk         [16]byte
}

// park answers q later: its waiter gets a turn whenever somebody rings, and
// when until has come.
func (s *Server) park(q *request, p *parked, until time.Time) error {
	if !s.drain.join() {
		p.leave()
		stopping(q.w)
		return nil
	}
	s.waiting.Add(1) // while net/http still knows of the request
	conn, _, err := http.NewResponseController(q.w).Hijack()
	if err != nil {
		p.leave()
		s.drain.leave()
		s.waiting.Done()
		return err
	}
	guestOf(q.Request).keeps()
	narrow(conn)
	p.conn = conn
	// The request itself would keep all that net/http had for it.
	left := (&http.Request{Method: q.Method, URL: &url.URL{Path: q.URL.Path}, Pattern: q.Pattern}).WithContext(q.base())
	p.w = &reply{conn: conn, minor: q.ProtoMinor, status: http.StatusOK}
	p.q = &request{Request: left, w: p.w, key: q.key, seat: q.seat}
	p.unstop = context.AfterFunc(left.Context(), p.stop)
	p.unkey = s.opt.Auth.Watch(q.key, p.lock)
	go s.wait(p, until)
	return nil
}

// wait sleeps, and gives the waiter its turn. The stack that a turn needed ends
// with its goroutine: a new one goes on waiting.
func (s *Server) wait(p *parked, until time.Time) {
	if p.sleep(until) {
		if until = s.turn(p); !until.IsZero() {
			go s.wait(p, until)
			return
		}
	}
	p.unstop()
	p.unkey()
	p.leave()
	p.hangUp()
	s.drain.leave()
	s.waiting.Done()
}

// lingerTime is how long who was answered may take to hang up.
const lingerTime = 500 * time.Millisecond

// hangUp closes the connection. Closed with something unread, TCP would take
// the answer away from who has not read it yet.
func (p *parked) hangUp() {
	if endWriting(p.conn) {
		_ = p.conn.SetReadDeadline(time.Now().Add(lingerTime))
		for err := error(nil); err == nil; {
			_, err = p.conn.Read(p.junk[:])
		}
	}
	_ = p.conn.Close()
}

// endWriting tells the other end that nothing more comes.
func endWriting(c net.Conn) bool {
	for {
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			return half.CloseWrite() == nil
		}
		around, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return false
		}
		c = around.NetConn()
	}
}

// turn answers an error, unless an answer has begun: then there is nobody left
// to tell.
func (s *Server) turn(p *parked) (until time.Time) {
	defer s.recovered(p.w, p.q.Request)
	err := auth.ErrNobody
	if !p.locked() {
		until, err = p.turn(p.q)
	}
	if err != nil && !p.w.begun() {
		s.fail(p.w, p.q.Request, err)
	}
	return until
}

// sleep returns true when somebody rings or until has come, and false when the
// client is gone.
func (p *parked) sleep(until time.Time) bool {
	for {
		p.mu.Lock()
		if p.rung {
			p.rung = false
			p.mu.Unlock()
			return true
		}
		p.asleep = true
		_ = p.conn.SetReadDeadline(until)
		p.mu.Unlock()
		_, err := p.conn.Read(p.junk[:]) // bytes that nobody asked for are passed over
		p.mu.Lock()
		p.asleep, p.rung = false, p.rung && err == nil
		p.mu.Unlock()
		if err != nil {
			return errors.Is(err, os.ErrDeadlineExceeded)
		}
	}
}

// ring wakes the waiter, or keeps it from falling asleep. It does not wait.
func (p *parked) ring() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rung = true
	if p.asleep {
		_ = p.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// stop lets the waiter say that the gateway stops, and cuts off a client that
// does not even read what it was sent before.
func (p *parked) stop() {
	_ = p.conn.SetWriteDeadline(time.Now().Add(unwantedTime))
	p.ring()
}

// lock ends the wait of who has no key any more.
func (p *parked) lock() {
	p.mu.Lock()
	p.keyless = true
	p.mu.Unlock()
	p.stop()
}

func (p *parked) locked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keyless
}

// Wait returns when every request that waits was told that the gateway stops,
// or with ctx. Call it after the http.Servers let nobody in any more.
func (s *Server) Wait(ctx context.Context) error { return over(ctx, &s.waiting) }

package linear

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// proxy is one gateway's way to the database. It can cut every connection, fall
// silent, and cut one in the middle of a commit.
type proxy struct {
	ln net.Listener
	to string // a Unix socket
	wg sync.WaitGroup

	mu      sync.Mutex
	pairs   map[*pair]bool
	silence chan struct{} // closed when it is over; nil without one
	next    bool          // to cut the next commit
	cuts    int           // commits that were
}

// pair is a connection with both its ends.
type pair struct{ gateway, server net.Conn }

func (p *pair) close() { _, _ = p.gateway.Close(), p.server.Close() }

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{ln: ln, to: to, pairs: map[*pair]bool{}}
	p.wg.Go(p.serve)
	t.Cleanup(func() {
		_ = ln.Close()
		p.speak()
		p.cut()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) serve() {
	for {
		conn, err := p.ln.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.to)
		if err != nil {
			_ = conn.Close()
			continue
		}
		c := &pair{conn, server}
		p.mu.Lock()
		p.pairs[c] = true
		p.mu.Unlock()
		p.wg.Go(func() { p.copy(c, c.server, c.gateway, true) })
		p.wg.Go(func() { p.copy(c, c.gateway, c.server, false) })
	}
}

func (p *proxy) copy(c *pair, to, from net.Conn, up bool) {
	defer func() {
		c.close()
		p.mu.Lock()
		delete(p.pairs, c)
		p.mu.Unlock()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		last := p.pass(up && bytes.Contains(buf[:n], []byte("COMMIT")))
		if _, err := to.Write(buf[:n]); err != nil || last {
			return
		}
	}
}

// pass waits while the proxy is silent, and reports whether this is a commit
// whose answer is to be lost.
func (p *proxy) pass(commit bool) bool {
	p.mu.Lock()
	silence := p.silence
	last := commit && p.next
	if last {
		p.next = false
		p.cuts++
	}
	p.mu.Unlock()
	if silence != nil {
		<-silence
	}
	return last
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.close()
	}
}

// cutCommit loses the answer of the next commit, and returns how many are then
// lost.
func (p *proxy) cutCommit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = true
	return p.cuts + 1
}

func (p *proxy) cutSoFar() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

func (p *proxy) fallSilent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silence = make(chan struct{})
}

func (p *proxy) speak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silence != nil {
		close(p.silence)
		p.silence = nil
	}
}

package apitest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// Tap returns a listener whose connections are listened in on: when one ends,
// what went over it is checked, and failed is told what is wrong.
func (c *Checker) Tap(ln net.Listener, failed func(error)) net.Listener {
	return &tap{ln, c, failed}
}

type tap struct {
	net.Listener
	checker *Checker
	failed  func(error)
}

// Accept implements net.Listener.
func (t *tap) Accept() (net.Conn, error) {
	conn, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return t.checker.Listen(conn, t.failed), nil
}

// Listen listens in on one connection of a server.
func (c *Checker) Listen(conn net.Conn, failed func(error)) net.Conn {
	l := &listened{Conn: conn}
	l.done = sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := c.Talk(l.in.Bytes(), l.out.Bytes()); err != nil {
			failed(err)
		}
	})
	return l
}

type listened struct {
	net.Conn
	done func()

	mu      sync.Mutex
	in, out bytes.Buffer
}

// NetConn returns the connection below.
func (l *listened) NetConn() net.Conn { return l.Conn }

func (l *listened) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in.Write(p[:n])
	return n, err
}

func (l *listened) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.Write(p[:n])
	return n, err
}

// Close implements net.Conn. What was said is checked then.
func (l *listened) Close() error {
	err := l.Conn.Close()
	l.done()
	return err
}

// Talk checks everything that was said on a connection. What was cut off is
// passed over, and what is no longer HTTP.
func (c *Checker) Talk(in, out []byte) error {
	var all []error
	asked, said := bufio.NewReader(bytes.NewReader(in)), bufio.NewReader(bytes.NewReader(out))
	for {
		q, err := http.ReadRequest(asked)
		if err != nil {
			return errors.Join(all...)
		}
		body, bodyErr := io.ReadAll(q.Body)
		a, err := http.ReadResponse(said, q)
		if err != nil || a.StatusCode == http.StatusSwitchingProtocols {
			return errors.Join(all...)
		}
		answer, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err == nil && (bodyErr == nil || a.StatusCode >= 400) {
			all = append(all, c.Check(Exchange{q, body, a.StatusCode, a.Header.Get("Content-Type"), answer}))
		}
		if err != nil || bodyErr != nil {
			return errors.Join(all...)
		}
	}
}

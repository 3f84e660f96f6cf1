package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/api/apitest"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/server"
)

// doorway is a door of a world on a real socket.
type doorway struct {
	*world
	addr   net.Addr
	parked chan struct{} // receives when a request begins to wait
	stop   func()        // as the gateway stops
}

// browsers is the door of the page, commands the socket of command lines.
func (w *world) browsers() *doorway { return w.open("tcp", "127.0.0.1:0", w.tcp, server.AgentDoor()) }

func (w *world) commands() *doorway {
	dir, err := os.MkdirTemp("", "gl-")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return w.open("unix", dir+"/s", w.people, server.AgentDoor())
}

func (w *world) open(network, addr string, h http.Handler, door server.Door) *doorway {
	w.t.Helper()
	ln, err := net.Listen(network, addr)
	if err != nil {
		w.t.Fatal(err)
	}
	checker, wrong := apitest.For(w.t)
	ln = checker.Tap(ln, wrong)
	ctx, stop := context.WithCancel(context.Background())
	d := &doorway{world: w, addr: ln.Addr(), parked: make(chan struct{}, 100), stop: stop}
	hs := w.srv.HTTP(ctx, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&noted{rw, d.parked}, r)
	}))
	served := make(chan error, 1)
	go func() { served <- hs.Serve(w.srv.Limit(ln, door)) }()
	w.t.Cleanup(func() {
		stop()
		_ = hs.Close()
		<-served
		d.allGone()
	})
	return d
}

// noted says when net/http lets go of a connection.
type noted struct {
	http.ResponseWriter
	parked chan<- struct{}
}

func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func (n *noted) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(n.ResponseWriter).Hijack()
	n.parked <- struct{}{}
	return conn, rw, err
}

// allGone fails unless everybody who waits goes.
func (d *doorway) allGone() {
	d.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	if err := d.srv.Wait(ctx); err != nil {
		d.t.Error("somebody still waits:", err)
	}
}

// caller is the other end of a request.
type caller struct {
	net.Conn
	*bufio.Reader
	r *http.Request
}

func (c *caller) Read(b []byte) (int, error) { return c.Reader.Read(b) }

// call sends a request and returns once it waits.
func (d *doorway) call(r *http.Request, proto string) *caller {
	d.t.Helper()
	conn, err := net.Dial(d.addr.Network(), d.addr.String())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() })
	var raw bytes.Buffer
	if err := r.Write(&raw); err != nil {
		d.t.Fatal(err)
	}
	if _, err := conn.Write(bytes.Replace(raw.Bytes(), []byte("HTTP/1.1"), []byte(proto), 1)); err != nil {
		d.t.Fatal(err)
	}
	<-d.parked
	return &caller{conn, bufio.NewReader(conn), r}
}

func (d *doorway) await(b api.Batch, seconds int, proto string) *caller {
	d.t.Helper()
	return d.call(d.as(d.request("POST", "/v1/batches/"+b.ID+"/await", api.Await{Hold: api.Hold{Holder: "h"}, Wait: seconds}), "agent"), proto)
}

// follow opens a stream behind the end of the trail.
func (d *doorway) follow(who string) *caller {
	d.t.Helper()
	r := d.as(d.request("GET", fmt.Sprintf("/v1/events?after=%d", d.last()), nil), who)
	if d.addr.Network() == "unix" {
		r = socket(r)
	}
	c := d.call(r, "HTTP/1.1")
	if res := c.answer(d.t); res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		d.t.Fatalf("%+v", res)
	}
	if _, err := c.until(": open"); err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (c *caller) answer(t *testing.T) *http.Response {
	t.Helper()
	res, err := http.ReadResponse(c.Reader, c.r)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Close || !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") || res.Header.Get("Date") == "" {
		t.Errorf("headers %v", res.Header)
	}
	return res
}

// batch reads an answer to its end.
func (c *caller) batch(t *testing.T, status int, out any) {
	t.Helper()
	res := c.answer(t)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status || res.ContentLength != int64(len(raw)) {
		t.Fatalf("%d with %d bytes, want %d: %s %v", res.StatusCode, res.ContentLength, status, raw, err)
	}
	if err := strictjson.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the answer: %v", err)
	}
}

// until reads lines to one with that beginning, and returns all before it.
func (c *caller) until(begin string) (string, error) {
	var before strings.Builder
	for {
		line, err := c.ReadString('\n')
		if err != nil || strings.HasPrefix(line, begin) {
			return before.String(), err
		}
		before.WriteString(line)
	}
}

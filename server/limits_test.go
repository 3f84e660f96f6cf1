package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/server"
)

// raw sends bytes to a door as they are.
func (d *doorway) raw(text string) net.Conn {
	d.t.Helper()
	c, err := net.Dial(d.addr.Network(), d.addr.String())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *doorway) head(length string) string {
	return fmt.Sprintf("POST /v1/batches HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", host, d.ask, length)
}

// answered is the status of what comes back, read while more may be sent.
func answered(t *testing.T, c net.Conn) int {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	return res.StatusCode
}

// SEC-70: what is too large, too deep or too many is refused, early and without
// memory for it.
func TestHugeRequests(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	body := func(text string) string { return d.head(fmt.Sprintf("Content-Length: %d", len(text))) + text }
	for name, tt := range map[string]struct {
		send   string
		then   string // again and again, as far as it is taken
		status int
	}{
		"1 KiB of nothing":     {send: body(strings.Repeat(" ", 1<<10)), status: http.StatusBadRequest},
		"1 GiB, as it says":    {send: d.head("Content-Length: 1073741824"), status: http.StatusRequestEntityTooLarge},
		"1 GiB, in chunks":     {send: d.head("Transfer-Encoding: chunked"), then: "10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n", status: http.StatusRequestEntityTooLarge},
		"a million deep":       {send: body(strings.Repeat("[", 1_000_000)), status: http.StatusBadRequest},
		"objects, deep":        {send: body(strings.Repeat(`{"a":`, 200_000)), status: http.StatusBadRequest},
		"100,000 names":        {send: body(names(100_000)), status: http.StatusBadRequest},
		"10 million names":     {send: d.head("Transfer-Encoding: chunked"), then: "8\r\n\"x\":[1],\r\n", status: http.StatusRequestEntityTooLarge},
		"a bomb":               {send: d.head("Content-Encoding: gzip\r\nContent-Length: 1000"), status: http.StatusUnsupportedMediaType},
		"headers of 17,000 B":  {send: "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nA: " + strings.Repeat("b", 17_000) + "\r\n\r\n", status: http.StatusRequestHeaderFieldsTooLarge},
		"headers of 16,000 B":  {send: "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nA: " + strings.Repeat("b", 15_900) + "\r\n\r\n", status: http.StatusOK},
		"headers of 64 KiB":    {send: "GET / HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 64) + "\r\n", status: http.StatusRequestHeaderFieldsTooLarge},
		"a login of 64 KiB":    {send: strings.Replace(d.head("Content-Length: 65536"), "/v1/batches", "/v1/login", 1), status: http.StatusRequestEntityTooLarge},
		"an input of too many": {send: body(`{"session":{"id":"s"},"message":"m","calls":[{"ref":"c","kind":"permission","tool":"T","input":` + names(20_000) + `}]}`), status: http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := d.raw(tt.send)
			if tt.then != "" {
				go func() {
					for range 1 << 20 {
						if _, err := io.WriteString(c, tt.then); err != nil {
							return
						}
					}
				}()
			}
			if got := answered(t, c); got != tt.status {
				t.Errorf("answered %d", got)
			}
			runtime.ReadMemStats(&after)
			if grew := after.TotalAlloc - before.TotalAlloc; grew > 32<<20 { // all that was ever allocated, the test's own included
				t.Errorf("it took %d MiB", grew>>20)
			}
		})
	}
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%x":0`, i)
	}
	return "{" + b.String()[1:] + "}"
}

// SEC-71: whoever dribbles makes room for who asks, and only they.
func TestSlowOnesMakeRoom(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	b := w.propose("m1", "git push")
	waiter, follower := d.await(b, 0, "HTTP/1.1"), d.follow("command")
	const most = 16
	server.SetRoom(w.srv, most)
	var slow []net.Conn
	for i := range most - most/8 - 2 { // what is left beside the two
		text := "GET / HTTP/1.1\r\nHost: " + host + "\r\nX: "
		if i%2 == 0 {
			text = d.head("Content-Length: 1000") + "{"
		}
		slow = append(slow, d.raw(text))
	}
	for server.Asking(w.srv) < len(slow) {
		runtime.Gosched()
	}
	for i := range 3 {
		c := d.raw(fmt.Sprintf("GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", host))
		if got := answered(t, c); got != http.StatusOK {
			t.Errorf("honest %d: %d", i, got)
		}
	}
	if err := slow[0].SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(slow[0]); isTimeout(err) {
		t.Error("the slowest is still there")
	}
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/calls/"+b.Calls[0].ID+"/decision", api.Decision{State: "allowed", Digest: b.Calls[0].Digest}), "command")), http.StatusOK, &api.Call{})
	waiter.batch(t, http.StatusOK, &b)
	if _, err := follower.until("event: call.decided"); err != nil {
		t.Errorf("who follows was not let be: %v", err)
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error) //nolint:errorlint // of this very call
	return ok && e.Timeout()
}

// REL-28: at the door that agents and people share, a crowd of agents keeps
// agents waiting, and no person.
func TestACrowdOfAgentsKeepsNoPersonWaiting(t *testing.T) {
	w := newWorld(t)
	d := w.open("tcp", "127.0.0.1:0", w.tcp, server.BrowserDoor(host))
	letGo, began := server.Crowd(w.srv), time.Now()
	body := `{"session":{"id":"s"},"message":"m","calls":[{"ref":"c","tool":"T","input":{}}]}`
	agent := d.raw(d.head(fmt.Sprintf("Content-Length: %d", len(body))) + body)
	for range 3 {
		c := d.raw(fmt.Sprintf("GET /v1/status HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", host, w.decide))
		if got := answered(t, c); got != http.StatusOK {
			t.Errorf("a person: %d", got)
		}
	}
	if err := agent.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := agent.Read(make([]byte, 1)); !isTimeout(err) && time.Since(began) < time.Second {
		t.Errorf("the agent was answered meanwhile: %d, %v", n, err)
	}
	letGo()
}

// When everybody is served, the next one is not let in.
func TestNoRoom(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	first := d.follow("command")
	server.SetRoom(w.srv, 1)
	c := d.raw("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(c); len(text) > 0 || isTimeout(err) {
		t.Errorf("%q, %v", text, err)
	}
	_ = first.Close()
	d.allGone()
	if got := answered(t, d.raw("GET /healthz HTTP/1.1\r\nHost: "+host+"\r\n\r\n")); got != http.StatusOK {
		t.Errorf("%d when there was room again", got)
	}
}

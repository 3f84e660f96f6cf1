package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// SEC-09: a thousand connections wait; when their keys end, they are gone within
// a second, and no other is.
func TestKeysEndOnOpenConnections(t *testing.T) {
	w := newWorld(t)
	hs := httptest.NewUnstartedServer(w.tcp)
	ctx, stop := context.WithCancel(context.Background())
	hs.Config = w.srv.HTTP(ctx, w.tcp)
	hs.Start()
	defer hs.Close()
	defer stop()
	revoked, rk := w.add(gatelatch.ApproverRole, time.Time{})
	rotated, tk := w.add(gatelatch.AuditorRole, time.Time{})
	asker, ak := w.add(gatelatch.AgentRole, time.Time{})
	stays, _ := w.add(gatelatch.ApproverRole, time.Time{})

	open := func(n int, request string, ready string) (conns []*bufio.Reader) {
		t.Helper()
		for range n {
			c, err := net.Dial("tcp", hs.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, bufio.NewReader(c))
		}
		for _, r := range conns {
			for line := ""; ready != "" && !strings.Contains(line, ready); {
				var err error
				if line, err = r.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
		}
		return conns
	}
	follow := func(key string) string {
		return fmt.Sprintf("GET /v1/events?after=0 HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", host, key)
	}
	r := w.request("POST", "/v1/batches", proposal("m1", "git push"))
	r.Header.Set("Authorization", "Bearer "+asker)
	var b api.Batch
	decode(t, send(w.tcp, r), http.StatusOK, &b)
	body, err := strictjson.Marshal(api.Await{Hold: api.Hold{Holder: "holder-of-the-test"}})
	if err != nil {
		t.Fatal(err)
	}
	wait := fmt.Sprintf("POST /v1/batches/%s/await HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		b.ID, host, asker, len(body), body)

	begin := time.Now()
	gone := map[string][]*bufio.Reader{
		"revoked": open(300, follow(revoked), ": open"), "rotated": open(300, follow(rotated), ": open"),
		"agents": open(400, wait, ""),
	}
	kept := open(10, follow(stays), ": open")
	slack := time.Since(begin) // what this machine needs to get to each of them
	for _, err := range []error{
		only(w.auth.Revoke(t.Context(), rk.ID, rk.Actor())), only(w.auth.Revoke(t.Context(), ak.ID, ak.Actor())),
		func() error { _, _, err := w.auth.Rotate(t.Context(), tk.ID, tk.Actor()); return err }(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ended := time.Now()
	took := func(conns []*bufio.Reader) time.Duration {
		var wg sync.WaitGroup
		for _, c := range conns {
			wg.Go(func() { _, _ = io.Copy(io.Discard, c) })
		}
		wg.Wait()
		return time.Since(ended)
	}
	for _, name := range []string{"revoked", "rotated", "agents"} {
		if d := took(gone[name]); d > time.Second+slack {
			t.Errorf("%s: open for another %v", name, d)
		}
	}
	w.login() // an event
	for _, c := range kept {
		for line := ""; !strings.Contains(line, "key.rotated"); {
			if line, err = c.ReadString('\n'); err != nil {
				t.Fatalf("a key that did not end: %v", err)
			}
		}
	}
}

func only(_ *gatelatch.Key, err error) error { return err }

// An agent whose key ended learns no decision, not even one that comes at the
// same moment.
func TestNoAnswerWithoutAKey(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	secret, k := w.add(gatelatch.AgentRole, time.Time{})
	w.ask = secret
	b := w.propose("m1", "git push")
	waiting := d.await(b, 0, "HTTP/1.1")
	if _, err := w.auth.Revoke(t.Context(), k.ID, k.Actor()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.seat().Decide(t.Context(), b.Calls[0].ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: w.digest(b.Calls[0].ID)}); err != nil {
		t.Fatal(err)
	}
	var e api.Problem
	waiting.batch(t, http.StatusUnauthorized, &e)
	if e.Code != api.CodeUnauthenticated {
		t.Errorf("%+v", e)
	}
}

// SEC-08: guesses run into a limit on loopback, and whoever is in stays in.
// GATELATCH_SOAK makes them 100,000.
func TestSoakGuessing(t *testing.T) {
	w := newWorld(t)
	send(w.tcp, w.as(w.request("GET", "/v1/status", nil), "command")) // seen before
	all := 10_000
	if os.Getenv("GATELATCH_SOAK") != "" {
		all = 100_000
	}
	refused, from := 0, []string{"127.0.0.1:", "[::ffff:127.0.0.1]:"} // one address, written twice
	for i := range all {
		r := w.request("GET", "/v1/status", nil)
		r.RemoteAddr = fmt.Sprint(from[i%2], 1024+i%60000)
		r.Header.Set("Authorization", fmt.Sprint("Bearer gkd_guess", i))
		switch res := send(w.tcp, r); res.Code {
		case http.StatusTooManyRequests:
			refused++
		case http.StatusUnauthorized:
		default:
			t.Fatalf("guess %d: %d", i, res.Code)
		}
	}
	if looked := all - refused; looked > 1000 {
		t.Errorf("%d of %d guesses were looked at", looked, all)
	}
	local := func(r *http.Request) *http.Request { r.RemoteAddr = "127.0.0.1:5"; return r }
	if res := send(w.tcp, local(w.as(w.request("GET", "/v1/status", nil), "command"))); res.Code != http.StatusOK {
		t.Errorf("who is in, from there: %d %s", res.Code, res.Body)
	}
	if res := send(w.tcp, local(w.as(w.request("GET", "/v1/status", nil), "browser"))); res.Code != http.StatusOK {
		t.Errorf("a browser that was not seen before, from there: %d", res.Code)
	}
	other := w.as(w.request("GET", "/v1/status", nil), "browser")
	other.RemoteAddr = "127.0.0.2:5"
	if res := send(w.tcp, other); res.Code != http.StatusOK {
		t.Errorf("from elsewhere: %d", res.Code)
	}
	// Login links are guessed no better, and a good one still works.
	r := local(w.request("POST", "/v1/login", api.Login{Code: "glc_guess"}))
	r.Header.Set("Origin", origin)
	if res := send(w.tcp, r); res.Code != http.StatusTooManyRequests {
		t.Errorf("a guessed link: %d", res.Code)
	}
	w.login()
}

// SEC-08: who has a browser's cookie alone can't try halves for ever, and does
// not lock the person out by trying.
func TestGuessingTheOtherHalf(t *testing.T) {
	w := newWorld(t)
	codes := map[int]int{}
	for range 200 {
		r := w.request("GET", "/v1/status", nil)
		r.AddCookie(&http.Cookie{Name: cookieName, Value: w.cookie})
		r.Header.Set(api.PageHeader, auth.Prove("gkp_guess", "GET", "/v1/status", nil, "0123456789abcdef", time.Now()))
		codes[send(w.tcp, r).Code]++
	}
	if codes[http.StatusTooManyRequests] < 100 || codes[http.StatusOK] > 0 {
		t.Errorf("answers %v", codes)
	}
	if res := send(w.tcp, w.as(w.request("GET", "/v1/status", nil), "browser")); res.Code != http.StatusOK {
		t.Errorf("the person: %d", res.Code)
	}
}

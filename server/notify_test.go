package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/notify"
	"github.com/gatelatch/gatelatch/server"
)

// told is a channel that hands on what it gets.
type told chan notify.Notice

func (c told) Send(_ context.Context, n notify.Notice) error { c <- n; return nil }

// phones is a server with a public address and a channel with buttons.
func phones(t *testing.T, w *world) (http.Handler, *server.Server, told) {
	t.Helper()
	c := make(told, 10)
	box := &notify.Outbox{Store: w.store, URL: origin, Public: public, Log: slog.New(slog.DiscardHandler),
		Targets: []*notify.Target{{Channel: c, Name: "phone", Type: "ntfy", Buttons: true, Settled: true, Person: "Mira"}}}
	h, srv := w.tells(box)
	return h, srv, c
}

// tells is a server with a public address that tells by box, which runs.
func (w *world) tells(box *notify.Outbox) (http.Handler, *server.Server) {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { box.Run(ctx) })
	w.t.Cleanup(func() { stop(); work.Wait() })
	srv, err := server.New(server.Options{Gate: w.gate, Auth: w.auth, URL: origin, Log: slog.New(slog.DiscardHandler), Public: public, Notify: box})
	if err != nil {
		w.t.Fatal(err)
	}
	h, err := srv.Handler(server.BrowserDoor(host).Also(public))
	if err != nil {
		w.t.Fatal(err)
	}
	return h, srv
}

func (w *world) press(token string) *http.Request {
	r := w.request("POST", "/v1/presses", api.Press{Token: token})
	r.Host = strings.TrimPrefix(public, "https://")
	return r
}

// SEC-08: buttons are guessed no better than keys, and the right one is not held up.
func TestGuessingButtons(t *testing.T) {
	w := newWorld(t)
	h, _, phone := phones(t, w)
	w.propose("m1", "git push")
	n := <-phone
	codes := map[int]int{}
	for range 200 {
		codes[send(h, w.press(n.ID+".btn_nope")).Code]++
	}
	if codes[http.StatusTooManyRequests] < 100 || codes[http.StatusTooManyRequests]+codes[http.StatusNotFound] != 200 {
		t.Errorf("answers %v", codes)
	}
	if res := send(h, w.press(n.Deny)); res.Code != http.StatusOK {
		t.Errorf("the right one: %d %s", res.Code, res.Body)
	}
}

func TestPress(t *testing.T) {
	w := newWorld(t)
	h, _, phone := phones(t, w)
	b := w.propose("m1", "git push")
	n := <-phone
	if n.Deny == "" || n.Link != public+"/#"+b.Calls[0].ID {
		t.Fatalf("told %+v", n)
	}
	for name, change := range map[string]func(*http.Request){
		"a page elsewhere": func(r *http.Request) { r.Header.Set("Origin", "https://ntfy.sh") },
		"our own page":     func(r *http.Request) { r.Header.Set("Origin", public) },
		"another host":     func(r *http.Request) { r.Host = "evil.example" },
		"no JSON":          func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"a GET":            func(r *http.Request) { r.Method = http.MethodGet },
	} {
		r := w.press(n.Deny)
		change(r)
		if res := send(h, r); res.Code < 400 {
			t.Errorf("%s: %d %s", name, res.Code, res.Body)
		}
	}
	if res := send(h, w.press(n.ID+".btn_nope")); res.Code != http.StatusNotFound {
		t.Errorf("a guess: %d %s", res.Code, res.Body)
	}
	var out api.Pressed
	decode(t, send(h, w.press(n.Deny)), http.StatusOK, &out)
	if out.Call != b.Calls[0].ID || out.State != "denied" {
		t.Errorf("pressed: %+v", out)
	}
	if res := send(h, w.press(n.Deny)); res.Code != http.StatusConflict {
		t.Errorf("pressed twice: %d %s", res.Code, res.Body)
	}
	var c api.Call
	decode(t, send(h, w.as(w.request("GET", "/v1/calls/"+out.Call, nil), "command")), http.StatusOK, &c)
	if c.Decided == nil || c.Decided.By.Name != "Mira via ntfy" {
		t.Errorf("decided %+v", c.Decided)
	}
	if s := <-phone; s.Outcome != "denied" || s.Thread != n.Thread {
		t.Errorf("taken back with %+v", s)
	}
}

// A gateway that no phone reaches has nothing to press.
func TestPressNeedsAPublicAddress(t *testing.T) {
	w := newWorld(t)
	for _, h := range []http.Handler{w.tcp, w.agents, w.people} {
		r := w.request("POST", "/v1/presses", api.Press{Token: "x"})
		if res := send(h, r); res.Code == http.StatusOK || codeOf(res) == "invalid" {
			t.Errorf("%d %s", res.Code, res.Body)
		}
	}
}

func TestNotificationsAreListedAndTried(t *testing.T) {
	w := newWorld(t)
	h, srv, phone := phones(t, w)
	var tried api.TriedChannels
	decode(t, send(h, w.as(w.request("POST", "/v1/notifications/test", api.TryChannels{}), "command")), http.StatusOK, &tried)
	if n := <-phone; n.Kind != notify.TestKind || len(tried.Tried) != 1 || !tried.Tried[0].OK {
		t.Errorf("%+v, %+v", n, tried)
	}
	if res := send(h, w.as(w.request("POST", "/v1/notifications/test", api.TryChannels{Channel: "fax"}), "command")); res.Code != http.StatusNotFound {
		t.Errorf("no such channel: %d %s", res.Code, res.Body)
	}
	w.propose("m1", "git push")
	<-phone
	var list api.Notifications
	decode(t, send(h, w.as(w.request("GET", "/v1/notifications", nil), "command")), http.StatusOK, &list)
	if len(list.Channels) != 1 || len(list.Messages) != 1 || list.Messages[0].Kind != "asked" || list.Messages[0].Tries != 1 {
		t.Errorf("%+v", list)
	}
	if srv.Silent() {
		t.Error("a channel is silence")
	}
	var st api.Status
	decode(t, send(w.tcp, w.as(w.request("GET", "/v1/status", nil), "command")), http.StatusOK, &st)
	if !st.Silent {
		t.Error("no channel is no silence")
	}
	if res := send(w.tcp, w.as(w.request("POST", "/v1/notifications/test", api.TryChannels{}), "command")); res.Code != http.StatusBadRequest || !strings.Contains(res.Body.String(), "config.yaml") {
		t.Errorf("without a channel: %d %s", res.Code, res.Body)
	}
}

// V4: a session with a call that waits is in review.
func TestSessionsInReview(t *testing.T) {
	w := newWorld(t)
	b := w.propose("m1", "git push")
	w.propose("m2", "git push -f")
	review := func() int {
		var out api.Sessions
		decode(t, send(w.tcp, w.as(w.request("GET", "/v1/sessions", nil), "command")), http.StatusOK, &out)
		return out.Sessions[0].Review
	}
	if n := review(); n != 2 {
		t.Errorf("%d in review", n)
	}
	d := api.Decision{State: "denied", Digest: b.Calls[0].Digest}
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/calls/"+b.Calls[0].ID+"/decision", d), "command")), http.StatusOK, &api.Call{})
	if n := review(); n != 1 {
		t.Errorf("%d in review", n)
	}
}

func TestALookLasts(t *testing.T) {
	w := newWorld(t)
	if w.srv.Looking() {
		t.Error("before anybody looked")
	}
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/look", api.None{}), "browser")), http.StatusOK, &api.None{})
	if !w.srv.Looking() {
		t.Error("nobody looks")
	}
}

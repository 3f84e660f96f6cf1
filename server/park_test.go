package server_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

func TestWaiterGetsItsAnswer(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	for i, proto := range []string{"HTTP/1.0", "HTTP/1.1"} {
		b := w.propose(proto, "git push")
		c := d.await(b, 0, proto)
		if _, err := c.Write([]byte("\r\nmore than anybody asked for")); err != nil {
			t.Fatal(err)
		}
		allow := api.Decision{State: "allowed", Digest: b.Calls[0].Digest}
		decode(t, send(w.tcp, w.as(w.request("POST", "/v1/calls/"+b.Calls[0].ID+"/decision", allow), "command")), http.StatusOK, &api.Call{})
		c.batch(t, http.StatusOK, &b)
		if b.Opened == nil || b.Calls[0].State != "allowed" {
			t.Errorf("%d: %+v", i, b)
		}
	}
}

func TestWaiterIsToldToComeAgain(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	b := w.propose("m1", "git push")
	d.await(b, 1, "HTTP/1.1").batch(t, http.StatusAccepted, &b)
	if b.Opened != nil || b.Calls[0].State != "pending" {
		t.Errorf("%+v", b)
	}
}

func TestWhoHangsUpIsForgotten(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	for _, c := range []*caller{d.await(w.propose("m1", "git push"), 0, "HTTP/1.0"), d.follow("command"), d.follow("browser")} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d.allGone()
}

// A key that is revoked is cut off within a second, before it hears of that.
func TestRevokedKeyEndsItsStream(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	mine, other := d.follow("browser"), d.follow("command")
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/logout", api.None{}), "browser")), http.StatusOK, &api.None{})
	if err := mine.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(mine); err != nil || strings.Contains(string(rest), "event") {
		t.Errorf("%q, %v", rest, err)
	}
	if _, err := other.until("event: key.revoked"); err != nil {
		t.Error(err)
	}
}

// last is the end of the trail.
func (w *world) last() int64 {
	w.t.Helper()
	var seq gatelatch.Seq
	if err := w.store.View(w.t.Context(), func(r gatelatch.Reader) (err error) { seq, err = r.LastSeq(); return err }); err != nil {
		w.t.Fatal(err)
	}
	return int64(seq)
}

// flood makes more events than a socket holds and than the tail keeps. The last
// one is key.created.
func (w *world) flood() {
	w.t.Helper()
	body, err := strictjson.Marshal(strings.Repeat("x", 4000))
	if err != nil {
		w.t.Fatal(err)
	}
	for range 12 {
		if err := w.store.Update(w.t.Context(), func(tx gatelatch.Tx) (err error) {
			for range 30 {
				err = errors.Join(err, tx.Record(gatelatch.Event{Kind: gatelatch.GateRestored, By: gatelatch.Actor{Kind: gatelatch.GatewayActor}, At: tx.Now(), Body: body}))
			}
			return err
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.login()
}

// Who does not read holds nobody up, and loses nothing.
func TestSlowSubscriber(t *testing.T) {
	w := newWorld(t)
	d := w.commands()
	slow, quick := d.follow("command"), d.follow("command")
	got := make(chan string, 1)
	go func() {
		text, err := quick.until("event: key.created")
		if err != nil {
			t.Error(err)
		}
		got <- text
	}()
	w.flood()
	text := <-got // while nobody reads what the slow one was sent
	if len(text) < 1<<20 {
		t.Errorf("only %d bytes: too few to fill anything", len(text))
	}
	if late, err := slow.until("event: key.created"); err != nil || late != text {
		t.Errorf("the slow one got %d of %d bytes, %v", len(late), len(text), err)
	}
}

// Whoever waits is told when the gateway stops, and nobody holds it up.
func TestStopTellsWhoWaits(t *testing.T) {
	w := newWorld(t)
	d, people := w.browsers(), w.commands()
	stuck := people.follow("command")
	w.flood()
	page, b := d.follow("browser"), w.propose("m1", "git push")
	agent := d.await(b, 0, "HTTP/1.1")
	d.stop()
	people.stop()
	var e api.Problem
	agent.batch(t, http.StatusServiceUnavailable, &e)
	if e.Code != api.CodeUnavailable {
		t.Errorf("%+v", e)
	}
	rest, err := io.ReadAll(page)
	if err != nil || strings.Contains(string(rest), "\"code\"") {
		t.Errorf("%q, %v", rest, err)
	}
	d.allGone()
	if _, err := stuck.until("event: key.created"); !errors.Is(err, io.EOF) {
		t.Errorf("who did not read: %v", err)
	}
}

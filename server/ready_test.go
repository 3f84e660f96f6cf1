package server_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/server"
)

// ready asks as a probe does, without a key.
func (w *world) ready() (status int, failing []string) {
	w.t.Helper()
	server.Recheck(w.srv)
	res := send(w.tcp, w.request("GET", "/readyz", nil))
	if res.Code == http.StatusOK {
		decode(w.t, res, http.StatusOK, &api.Ready{})
		return res.Code, nil
	}
	var out api.Problem
	decode(w.t, res, http.StatusServiceUnavailable, &out)
	why, _ := strings.CutPrefix(out.Detail, "not ready: ")
	return res.Code, strings.Split(why, ", ")
}

func (w *world) wantReady(failing ...string) {
	w.t.Helper()
	if status, got := w.ready(); !slices.Equal(got, failing) || (status == http.StatusOK) != (len(failing) == 0) {
		w.t.Errorf("%d, failing %q, want %q", status, got, failing)
	}
}

func TestReady(t *testing.T) {
	w := newWorld(t)
	w.wantReady()
	w.problem = "policy.yaml:3: a secret is not a rule"
	w.wantReady("rules")
	w.problem = ""
	w.wantReady()
	w.propose("m1", "git push")
	w.whole()
	w.tamper(`UPDATE event SET by_name='nobody' WHERE seq=3`)
	server.LookAnew(w.srv)
	for _, failing := w.ready(); !slices.Equal(failing, []string{"audit"}); _, failing = w.ready() {
		if len(failing) > 0 {
			t.Fatalf("failing %q", failing)
		}
	}
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	w.wantReady("store")
}

// REL-27: nothing new begins, whoever waits is told, what is under way goes on.
func TestDrain(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	b := w.propose("m1", "git push")
	agent, page := d.await(b, 0, "HTTP/1.1"), d.follow("browser")
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	if err := w.srv.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	w.wantReady("stopping")
	var e api.Problem
	agent.batch(t, http.StatusServiceUnavailable, &e)
	if e.Code != api.CodeUnavailable {
		t.Errorf("who waits hears %+v", e)
	}
	if rest, err := io.ReadAll(page); err != nil || strings.Contains(string(rest), "error") {
		t.Errorf("a stream ends with %q, %v", rest, err)
	}
	for _, r := range []*http.Request{
		w.as(w.request("POST", "/v1/batches", proposal("m2", "ls")), "agent"),
		w.as(w.request("POST", "/v1/batches/"+b.ID+"/await", api.Await{Hold: api.Hold{Holder: "h"}}), "agent"),
		w.as(w.request("GET", "/v1/events?after=0", nil), "command"),
	} {
		if res := send(w.tcp, r); res.Code != http.StatusServiceUnavailable || res.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d, %v", r.URL.Path, res.Code, res.Header())
		}
	}
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/calls/"+b.Calls[0].ID+"/decision", api.Decision{State: "denied", Digest: b.Calls[0].Digest}), "command")), http.StatusOK, &api.Call{})
}

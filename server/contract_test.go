package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/api/openapi"
	"github.com/gatelatch/gatelatch/client"
)

func (w *world) posts(who, path string, in any) *httptest.ResponseRecorder {
	w.t.Helper()
	return send(w.tcp, w.as(w.request("POST", path, in), who))
}

// REL-02: the same decision again is the same answer, another one is told who
// was first, and one on what nobody decided in time is told that it is gone.
func TestDecisionsThatComeTooLate(t *testing.T) {
	w := newWorld(t)
	b := w.propose("m1", "git push")
	path := "/v1/calls/" + b.Calls[0].ID + "/decision"
	deny := api.Decision{State: "denied", Digest: b.Calls[0].Digest, Note: "no"}
	for range 2 {
		decode(t, w.posts("command", path, deny), http.StatusOK, &api.Call{})
	}
	res := w.posts("browser", path, api.Decision{State: "allowed", Digest: b.Calls[0].Digest})
	var p api.Problem
	decode(t, res, http.StatusConflict, &p)
	if p.Code != "settled" || p.Status != 409 || p.Decided == nil || p.Decided.State != "denied" || p.Decided.Note != "no" || p.Hint == "" {
		t.Errorf("another decision: %+v", p)
	}
	if got := res.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a problem is %s", got)
	}

	late := proposal("m2", "git push --tags")
	late.Limit, late.Hold, late.Wait = 1, api.Hold{Holder: "h"}, 30
	decode(t, w.posts("agent", "/v1/batches", late), http.StatusOK, &b) // once it has expired
	path = "/v1/calls/" + b.Calls[0].ID
	p = api.Problem{}
	decode(t, w.posts("command", path+"/decision", api.Decision{State: "allowed", Digest: b.Calls[0].Digest}), http.StatusGone, &p)
	if p.Code != api.CodeExpired || p.Decided == nil || p.Decided.State != "expired" || p.Decided.By.Kind != "clock" {
		t.Errorf("after its time: %+v", p)
	}
	if res := w.posts("command", path+"/input", api.Edit{Digest: b.Calls[0].Digest, Input: []byte(`{"command":"ls"}`)}); res.Code != http.StatusGone {
		t.Errorf("edited after its time: %d %s", res.Code, res.Body)
	}
	// What is settled can still be read (O11).
	var c api.Call
	decode(t, send(w.tcp, w.as(w.request("GET", path, nil), "command")), http.StatusOK, &c)
	decode(t, send(w.tcp, w.as(w.request("GET", "/v1/batches/"+b.ID, nil), "agent")), http.StatusOK, &b)
	if c.State != "expired" || b.Calls[0].State != "expired" {
		t.Errorf("read later: %s, %s", c.State, b.Calls[0].State)
	}
}

// No route answers 200 for an id that it does not know.
func TestUnknownIDsAreNotFound(t *testing.T) {
	w := newWorld(t)
	digest := strings.Repeat("0", 64)
	bodies := map[string]any{
		"Await":    api.Await{Hold: api.Hold{Holder: "h"}, Wait: 1},
		"Consume":  api.Consume{Call: "cal_none", Fence: 1, Digest: digest, Nonce: "n"},
		"Extend":   api.Extend{Fence: 1, Calls: proposal("m", "ls").Calls},
		"Decide":   api.Decision{State: "allowed", Digest: digest},
		"Edit":     api.Edit{Digest: digest, Input: []byte(`{}`)},
		"TryMatch": api.TryMatch{Scope: "session", Match: "Bash(ls)"},
	}
	for _, rt := range api.Routes {
		if !strings.Contains(rt.Path, "{") {
			continue
		}
		in := rt.In
		if body, ok := bodies[rt.Name]; ok {
			in = body
		}
		for _, who := range []string{"agent", "command"} {
			res := send(w.tcp, w.as(w.request(rt.Method, strings.ReplaceAll(rt.Path, "{id}", "none"), in), who))
			if code := codeOf(res); code != "not_found" && code != "forbidden" {
				t.Errorf("%s as %s: %d %s", rt.Name, who, res.Code, res.Body)
			}
		}
	}
	none := api.Report{Session: "none", Ref: "none", OK: true}
	if res := w.posts("agent", "/v1/reports", none); res.Code != http.StatusNotFound {
		t.Errorf("Report: %d %s", res.Code, res.Body)
	}
}

// One request proposes and waits.
func TestProposeAndWait(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	p := proposal("m1", "git push")
	p.Hold, p.Wait = api.Hold{Holder: "h", Consume: true}, 1
	var b api.Batch
	decode(t, w.posts("agent", "/v1/batches", p), http.StatusAccepted, &b)
	if b.Opened != nil || b.Calls[0].State != "pending" {
		t.Fatalf("nobody decided: %+v", b)
	}
	p.Wait = 50
	c := d.call(d.as(d.request("POST", "/v1/batches", p), "agent"), "HTTP/1.1")
	decode(t, w.posts("command", "/v1/calls/"+b.Calls[0].ID+"/decision", api.Decision{State: "allowed", Digest: b.Calls[0].Digest}), http.StatusOK, &api.Call{})
	c.batch(t, http.StatusOK, &b)
	if b.Opened == nil || !b.Calls[0].Consumed {
		t.Errorf("decided: %+v", b)
	}
	decode(t, w.posts("agent", "/v1/batches", p), http.StatusOK, &b) // at once
	p.Hold = api.Hold{}
	if res := w.posts("agent", "/v1/batches", p); res.Code != http.StatusBadRequest {
		t.Errorf("to wait without a hold: %d %s", res.Code, res.Body)
	}
}

// REL-03: a name in the header is as good as one in the body.
func TestIdempotencyKey(t *testing.T) {
	w := newWorld(t)
	ask := func(path string, in any, keys ...string) *httptest.ResponseRecorder {
		r := w.as(w.request("POST", path, in), "agent")
		for _, k := range keys {
			r.Header.Add(api.IdempotencyHeader, k)
		}
		return send(w.tcp, r)
	}
	p := proposal("", "ls")
	p.Hold = api.Hold{Holder: "h"}
	var first, again api.Batch
	decode(t, ask("/v1/batches", p, "k1"), http.StatusOK, &first)
	decode(t, ask("/v1/batches", p, `"k1"`), http.StatusOK, &again)
	if first.ID != again.ID || first.Opened == nil {
		t.Errorf("%s and %s, %+v", first.ID, again.ID, first.Opened)
	}
	named := p
	named.Message = "k1"
	decode(t, ask("/v1/batches", named), http.StatusOK, &again)
	if first.ID != again.ID {
		t.Error("the name in the body is another one")
	}
	other := proposal("", "pwd")
	take := api.Consume{Call: first.Calls[0].ID, Fence: first.Opened.Fence, Digest: first.Calls[0].Digest}
	consume := "/v1/batches/" + first.ID + "/consume"
	for name, tt := range map[string]struct {
		res  *httptest.ResponseRecorder
		want int
	}{
		"other calls":           {ask("/v1/batches", other, "k1"), 409},
		"no name":               {ask("/v1/batches", p), 400},
		"an empty name":         {ask("/v1/batches", p, ""), 400},
		"two keys":              {ask("/v1/batches", p, "k1", "k1"), 400},
		"two names":             {ask("/v1/batches", named, "k2"), 400},
		"an attempt to consume": {ask(consume, take, "n1"), 200},
		"the same attempt":      {ask(consume, take, "n1"), 200},
		"without a name":        {ask(consume, take), 400},
	} {
		if tt.res.Code != tt.want {
			t.Errorf("%s: %d %s", name, tt.res.Code, tt.res.Body)
		}
	}
	if res := ask(consume, take, "n2"); codeOf(res) != "consumed" {
		t.Errorf("another attempt: %d %s", res.Code, res.Body)
	}
}

// REL-35: a stream that is cut again and again, and taken up behind the last id
// that came, loses nothing and repeats nothing.
func TestStreamIsTakenUpAgain(t *testing.T) {
	w := newWorld(t)
	d := w.browsers()
	begin := d.last()
	const rounds, each = 12, 3
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range rounds * each {
			w.propose(fmt.Sprint("m", i), fmt.Sprint("git push origin ", i))
		}
	}()
	last, came := begin, 0
	for round := range rounds {
		r := d.as(d.request("GET", fmt.Sprint("/v1/events?after=", begin), nil), "command")
		r.Header.Set("Last-Event-ID", strconv.FormatInt(last, 10))
		c := d.call(r, "HTTP/1.1")
		if _, err := c.until("retry: "); err != nil {
			t.Fatal(err)
		}
		for range each*2 + round%2 { // each proposal is two events
			if came == rounds*each*2 {
				break
			}
			line := ""
			for !strings.HasPrefix(line, "id: ") {
				var err error
				if line, err = c.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			id, err := strconv.ParseInt(strings.TrimSpace(line[4:]), 10, 64)
			if err != nil || id != last+1 {
				t.Fatalf("after %d came %q", last, line)
			}
			last, came = id, came+1
		}
		_ = c.Close()
	}
	<-done
	if last < begin+rounds*each*2 {
		t.Errorf("the last of %d events was %d, after %d", rounds*each*2, last, begin)
	}
	for name, bad := range map[string][]string{"two": {"1", "2"}, "no number": {"x"}, "negative": {"-1"}} {
		r := w.as(w.request("GET", "/v1/events", nil), "command")
		r.Header["Last-Event-Id"] = bad
		if res := send(w.tcp, r); res.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", name, res.Code)
		}
	}
}

// A follower outlives its gateway, and gets every event once.
func TestFollowerOutlivesTheGateway(t *testing.T) {
	r := newRig(t)
	agent, person := r.client(client.ForAgents), r.client(client.ForPeople)
	seqs := make(chan int64)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- person.Follow(ctx, 0, func(e api.Event) bool { seqs <- e.Seq; return true })
	}()
	last := int64(0)
	for i := range 4 {
		if i > 0 {
			r.stop()
			r.start()
		}
		p := proposal(fmt.Sprint("m", i), "git push")
		if _, err := agent.Propose(ctx, p.Domain()); err != nil {
			t.Fatal(err)
		}
		st, err := person.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for last < st.Seq {
			if seq := <-seqs; seq != last+1 {
				t.Fatalf("after %d came %d", last, seq)
			}
			last++
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := person.Follow(t.Context(), last+100, nil); !errors.Is(err, client.ErrCut) {
		t.Errorf("behind the end: %v", err)
	}
}

// Anybody can read what the API is.
func TestDescriptionIsServed(t *testing.T) {
	w := newWorld(t)
	res := send(w.tcp, w.request("GET", "/v1/openapi.json", nil))
	if res.Code != http.StatusOK || !strings.Contains(res.Body.String(), `"openapi":"3.1.0"`) || res.Body.Len() < len(openapi.JSON)/2 {
		t.Errorf("%d with %d bytes", res.Code, res.Body.Len())
	}
}

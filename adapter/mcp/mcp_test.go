package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/adaptertest"
	"github.com/gatelatch/gatelatch/adapter/mcp"
)

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	cancelled   = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
)

func call(arguments string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"approve","arguments":` + arguments + `,"_meta":{"progressToken":"p"}}}`
}

func touch(id string) string {
	return call(`{"tool_name":"Bash","input":{"command":"touch x && y"},"tool_use_id":"` + id + `"}`)
}

func begin(w wire, messages ...string) {
	for _, m := range append([]string{initialize, initialized}, messages...) {
		w.send([]byte(m))
	}
}

func textOf(t *testing.T, m message) (a answer) {
	t.Helper()
	if len(m.Result.Content) != 1 {
		t.Fatalf("got %+v", m)
	}
	if err := json.Unmarshal([]byte(m.Result.Content[0].Text), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// No client gives up: each hears of progress long before a minute is over, and
// the answer comes after as long as it takes.
func TestProgressWhileWaiting(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		p := startStdio(t, r)
		begin(p, touch("c1"))
		for range 60 {
			<-time.After(30 * time.Second)
			synctest.Wait()
			heard := 0
			for len(p.seen) > 0 {
				if m := <-p.seen; m.Method == "notifications/progress" && m.Params.ProgressToken == "p" {
					heard++
				}
			}
			if heard == 0 {
				t.Fatal("nothing was heard for half a minute")
			}
		}
		r.Allow()
		if a := textOf(t, p.answer(7.0)); a.Behavior != "allow" || string(a.UpdatedInput) != `{"command":"touch x && y"}` {
			t.Errorf("got %+v", a)
		}
	})
}

// Cancelled is withdrawn, on each transport; so is a question whose agent is
// behind a pipe that ended.
func TestCancelled(t *testing.T) {
	for name, connect := range map[string]func(*testing.T, *adaptertest.Rig) wire{"stdio": stdio, "http": streamable} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				begin(connect(t, r), touch("c1"), cancelled)
				withdrawn(t, r)
			})
		})
	}
	t.Run("the end of the pipe", func(t *testing.T) {
		adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
			p := startStdio(t, r)
			begin(p, touch("c1"))
			r.Waiting()
			if err := p.in.Close(); err != nil {
				t.Fatal(err)
			}
			withdrawn(t, r)
		})
	})
}

func withdrawn(t *testing.T, r *adaptertest.Rig) {
	t.Helper()
	if cs := r.Calls(false); len(cs) != 1 || cs[0].State != gatelatch.Withdrawn {
		t.Errorf("not withdrawn: %+v", cs)
	}
}

// REL-30: a stream that was cut leaves the question where it is, and asking
// again on another picks up the decision.
func TestLostStream(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		w := streamable(t, r).(*posts)
		begin(w)
		ctx, cut := context.WithCancel(t.Context())
		lost := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(touch("c1")))
		lost.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {w.session}}
		go w.h.Serve(httptest.NewRecorder(), lost, caller(r))
		first := r.Waiting().ID
		cut()
		if r.Waiting().ID != first {
			t.Fatal("the question is gone")
		}
		r.Allow()
		again := streamable(t, r)
		begin(again, touch("c2"))
		if a := textOf(t, again.answer(7.0)); a.Behavior != "allow" {
			t.Errorf("got %+v", a)
		}
	})
}

// Rule 7: whatever is wrong, the text is a denial with a message.
func TestEveryFailureIsADenial(t *testing.T) {
	for name, arguments := range map[string]string{
		"no call id":      `{"tool_name":"Bash","input":{"command":"pwd"}}`,
		"no tool":         `{"input":{"command":"pwd"},"tool_use_id":"c1"}`,
		"no input":        `{"tool_name":"Bash","tool_use_id":"c1"}`,
		"two of one name": `{"tool_name":"Bash","input":{"command":"pwd","Command":"rm x"},"tool_use_id":"c1"}`,
		"another case":    `{"Tool_Name":"Bash","input":{"command":"pwd"},"tool_use_id":"c1"}`,
		"wrong types":     `{"tool_name":7,"input":{"command":"pwd"},"tool_use_id":"c1"}`,
		"a list":          `[]`,
		"denied by rules": `{"tool_name":"Bash","input":{"command":"rm x"},"tool_use_id":"c1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				p := startStdio(t, r)
				begin(p, call(arguments))
				if a := textOf(t, p.answer(7.0)); a.Behavior != "deny" || a.Message == "" {
					t.Errorf("got %+v", a)
				}
			})
		})
	}
}

// down is a gateway that fails.
type down struct{ gatelatch.Service }

func (down) Propose(context.Context, gatelatch.Proposal) (*gatelatch.Batch, error) {
	return nil, errors.New("the gateway is away")
}

func TestGatewayIsAway(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		h := mcp.NewHTTP("test", func(err error) string { return "because " + err.Error() })
		w := &posts{t: t, r: r, h: h, open: map[string]chan []byte{}, who: mcp.Caller{Service: down{}, Session: gatelatch.SessionInfo{ID: "s"}}}
		w.cleanUp()
		begin(w, touch("c1"))
		if a := textOf(t, w.answer(7.0)); a.Behavior != "deny" || a.Message != "because the gateway is away" {
			t.Errorf("got %+v", a)
		}
	})
}

type broken struct{ gatelatch.Service }

func (broken) Propose(context.Context, gatelatch.Proposal) (*gatelatch.Batch, error) {
	panic("secret of an input")
}

// A fault in one call denies it, and does not end the gateway with all others.
func TestPanicIsADenial(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		h := mcp.NewHTTP("test", error.Error)
		w := &posts{t: t, r: r, h: h, open: map[string]chan []byte{}, who: mcp.Caller{Service: broken{}, Session: gatelatch.SessionInfo{ID: "s"}}}
		w.cleanUp()
		begin(w, touch("c1"))
		if a := textOf(t, w.answer(7.0)); a.Behavior != "deny" || strings.Contains(a.Message, "secret") {
			t.Errorf("got %+v", a)
		}
	})
}

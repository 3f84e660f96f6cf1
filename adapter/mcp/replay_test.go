package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/adaptertest"
	"github.com/gatelatch/gatelatch/adapter/mcp"
)

// line is one line of a recording: Claude Code 2.1.325 with a tool of its own.
type line struct {
	From  string
	Msg   json.RawMessage
	After float64 // seconds, if it took long
}

type message struct {
	ID     any
	Method string
	Params struct {
		ProgressToken any
		Arguments     struct {
			Input json.RawMessage
		}
	}
	Result struct{ Content []struct{ Text string } }
	Error  json.RawMessage
}

type answer struct {
	Behavior, Message  string
	UpdatedInput       json.RawMessage
	Interrupt          bool
	HookSpecificOutput *struct {
		HookEventName, PermissionDecision string
		Decision                          struct{ Behavior string }
	}
}

func recording(t *testing.T, file string) (lines []line) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for text := range bytes.Lines(raw) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// wire is one transport with our tool at its end.
type wire interface {
	send(raw []byte)
	// answer waits for the answer to a call.
	answer(id any) message
}

// Each recording, on each transport: what was answered then is decided by a
// person now, and the agent gets the same.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) != 25 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for name, connect := range map[string]func(*testing.T, *adaptertest.Rig) wire{"stdio": stdio, "http": streamable} {
		for _, file := range files {
			t.Run(name+"/"+filepath.Base(file), func(t *testing.T) {
				adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
					w := connect(t, r)
					if strings.Contains(file, "hook-") { // recorded without its beginning
						for _, l := range recording(t, "testdata/stdio-allow.jsonl")[:3] {
							w.send(l.Msg)
						}
					}
					replay(t, r, w, recording(t, file))
				})
			})
		}
	}
}

func replay(t *testing.T, r *adaptertest.Rig, w wire, lines []line) {
	if last := lines[len(lines)-1]; strings.Contains(string(last.Msg), `"tools/call"`) { // it was never answered
		defer func() { r.Waiting() }()
	}
	var call message
	for _, l := range lines {
		if l.After > 0 {
			<-time.After(time.Duration(l.After * float64(time.Second)))
		}
		var m message
		if err := json.Unmarshal(l.Msg, &m); err != nil {
			t.Fatal(err)
		}
		switch {
		case l.From == "agent":
			w.send(l.Msg)
			if m.Method == "tools/call" {
				call = m
			}
			if m.Method == "notifications/cancelled" {
				if cs := r.Calls(false); len(cs) != 1 || cs[0].State != gatelatch.Withdrawn {
					t.Errorf("the call is not withdrawn: %+v", cs)
				}
			}
		case m.Error != nil || !strings.HasPrefix(m.Result.Content[0].Text, "{"):
			// A tool that failed. Ours is asked, and a person says no.
			r.Deny("gateway down")
			check(t, w.answer(call.ID), call, answer{Behavior: "deny", Message: "User denied the request: gateway down"})
		default:
			var was answer
			if err := json.Unmarshal([]byte(m.Result.Content[0].Text), &was); err != nil {
				t.Fatal(err)
			}
			if was.HookSpecificOutput == nil {
				r.Decide(decision(t, was))
			}
			check(t, w.answer(call.ID), call, was)
		}
	}
}

// decision is what a person would have done for that answer.
func decision(t *testing.T, was answer) gatelatch.Decision {
	t.Helper()
	if was.Behavior == "deny" {
		d := gatelatch.Decision{State: gatelatch.Denied, Note: was.Message, Interrupt: was.Interrupt}
		return d
	}
	var in struct{ Answers map[string]string }
	if len(was.UpdatedInput) > 0 {
		if err := json.Unmarshal(was.UpdatedInput, &in); err != nil {
			t.Fatal(err)
		}
	}
	return gatelatch.Decision{State: gatelatch.Allowed, Answers: in.Answers}
}

func check(t *testing.T, m, call message, was answer) {
	t.Helper()
	if m.Error != nil || len(m.Result.Content) != 1 {
		t.Fatalf("got %+v", m)
	}
	var got answer
	if err := json.Unmarshal([]byte(m.Result.Content[0].Text), &got); err != nil {
		t.Fatal(err)
	}
	switch {
	case was.HookSpecificOutput != nil: // a hook's answer would be no opinion: it is denied
		h := got.HookSpecificOutput
		if h == nil || h.HookEventName != was.HookSpecificOutput.HookEventName || h.PermissionDecision != "deny" && h.Decision.Behavior != "deny" {
			t.Errorf("a hook heard %s", m.Result.Content[0].Text)
		}
	case got.Behavior != was.Behavior || got.Interrupt != was.Interrupt:
		t.Errorf("got %s", m.Result.Content[0].Text)
	case got.Behavior == "deny" && !strings.Contains(got.Message, was.Message):
		t.Errorf("message %q, was %q", got.Message, was.Message)
	case got.Behavior == "allow": // P5: the input, always, and its bytes
		var want bytes.Buffer
		if err := json.Compact(&want, call.Params.Arguments.Input); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(was.UpdatedInput), `"answers"`) {
			want.Truncate(want.Len() - 1)
			want.WriteString(`,"answers":{"Which database?":"Postgres"}}`)
		}
		if string(got.UpdatedInput) != want.String() {
			t.Errorf("updatedInput %s, want %s", got.UpdatedInput, &want)
		}
	}
}

func caller(r *adaptertest.Rig) mcp.Caller {
	return mcp.Caller{Service: r.Agent, Session: gatelatch.SessionInfo{ID: "s1", Name: "Claude Code"}}
}

// pipe is the tool on stdin and stdout.
type pipe struct {
	t    *testing.T
	in   io.WriteCloser
	seen chan message
}

func stdio(t *testing.T, r *adaptertest.Rig) wire { return startStdio(t, r) }

func startStdio(t *testing.T, r *adaptertest.Rig) *pipe {
	in, toTool := io.Pipe()
	fromTool, out := io.Pipe()
	p := &pipe{t: t, in: toTool, seen: make(chan message, 1000)}
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.Stdio(t.Context(), in, out, "test", func() (mcp.Caller, error) { return caller(r), nil }, error.Error)
		out.Close()
	}()
	go func() {
		for sc := bufio.NewScanner(fromTool); sc.Scan(); {
			var m message
			if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
				t.Error(err)
			}
			p.seen <- m
		}
	}()
	t.Cleanup(func() {
		toTool.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *pipe) send(raw []byte) {
	var one bytes.Buffer
	if err := json.Compact(&one, raw); err != nil {
		p.t.Fatal(err)
	}
	one.WriteByte('\n')
	if _, err := p.in.Write(one.Bytes()); err != nil {
		p.t.Fatal(err)
	}
	synctest.Wait()
}

func (p *pipe) answer(id any) message {
	p.t.Helper()
	synctest.Wait()
	for {
		select {
		case m := <-p.seen:
			if m.ID == id && m.Method == "" {
				return m
			}
		default:
			p.t.Fatalf("no answer to %v", id)
		}
	}
}

// posts is the tool over streamable HTTP.
type posts struct {
	t       *testing.T
	r       *adaptertest.Rig
	h       *mcp.HTTP
	who     mcp.Caller
	session string
	open    map[string]chan []byte // by id: the body when the answer is whole
}

func streamable(t *testing.T, r *adaptertest.Rig) wire {
	p := &posts{t: t, r: r, h: mcp.NewHTTP("test", error.Error), open: map[string]chan []byte{}, who: caller(r)}
	p.cleanUp()
	return p
}

// cleanUp ends the session, which would otherwise be kept for a while.
func (p *posts) cleanUp() {
	p.t.Cleanup(func() {
		end := httptest.NewRequestWithContext(context.Background(), http.MethodDelete, "/mcp", nil)
		end.Header.Set("Mcp-Session-Id", p.session)
		p.h.Serve(httptest.NewRecorder(), end, mcp.Caller{})
	})
}

func (p *posts) send(raw []byte) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		p.t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(p.t.Context(), http.MethodPost, "/mcp", bytes.NewReader(raw))
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": p.session} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	switch {
	case m.Method == "server/discover":
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", "server/discover")
	case p.session != "":
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	body := make(chan []byte, 1)
	p.open[fmt.Sprint(m.ID)] = body
	rec := httptest.NewRecorder()
	go func() {
		p.h.Serve(rec, req, p.who)
		if id := rec.Header().Get("Mcp-Session-Id"); id != "" {
			p.session = id
		}
		body <- rec.Body.Bytes()
	}()
	synctest.Wait()
}

func (p *posts) answer(id any) message {
	p.t.Helper()
	synctest.Wait()
	select {
	case body := <-p.open[fmt.Sprint(id)]:
		for text := range bytes.Lines(body) {
			var m message
			if data, ok := bytes.CutPrefix(text, []byte("data: ")); ok && json.Unmarshal(data, &m) == nil && m.ID == id && m.Method == "" {
				return m
			}
		}
		p.t.Fatalf("no answer to %v in %s", id, body)
	default:
		p.t.Fatalf("no answer to %v yet", id)
	}
	return message{}
}

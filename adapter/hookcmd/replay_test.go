package hookcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/memory"
)

// A recording is what a real Claude Code 2.1.325 sent to a hook, and what that
// hook answered.
type recording struct {
	Name     string `json:"name"`
	Terminal bool   `json:"terminal"`
	Steps    []step `json:"steps"`
}

type step struct {
	In     json.RawMessage `json:"in"`
	Out    json.RawMessage `json:"out"`    // nothing if it was no JSON, or came too late
	Closed bool            `json:"closed"` // the host stopped listening
}

// reply is any answer to an event that can hold a call back.
type reply struct {
	Continue           *bool  `json:"continue"`
	Decision           string `json:"decision"` // the old form
	HookSpecificOutput struct {
		HookEventName      string          `json:"hookEventName"`
		PermissionDecision string          `json:"permissionDecision"`
		UpdatedInput       json.RawMessage `json:"updatedInput"`
		Decision           struct {
			Behavior     string          `json:"behavior"`
			Message      string          `json:"message"`
			Interrupt    bool            `json:"interrupt"`
			UpdatedInput json.RawMessage `json:"updatedInput"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

func readReply(t *testing.T, raw []byte) (r reply) {
	t.Helper()
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// verdict is allow, deny, ask, defer or "" for no opinion.
func (r reply) verdict() string {
	h := r.HookSpecificOutput
	switch {
	case h.Decision.Behavior != "":
		return h.Decision.Behavior
	case h.PermissionDecision != "":
		return h.PermissionDecision
	case r.Decision == "approve":
		return "allow"
	case r.Decision == "block":
		return "deny"
	}
	return ""
}

func (r reply) interrupts() bool {
	return r.HookSpecificOutput.Decision.Interrupt || r.verdict() == "deny" && r.Continue != nil && !*r.Continue
}

func (r reply) input() json.RawMessage {
	if in := r.HookSpecificOutput.Decision.UpdatedInput; in != nil {
		return in
	}
	return r.HookSpecificOutput.UpdatedInput
}

// player answers a recording as its hook did, through the gate: a person
// decides what the recorded answer was.
type player struct {
	t    *testing.T
	gate *gatelatch.Gate
	rec  recording

	deferred string // the call that the host comes back for
}

// want is what we answer where the recorded hook answered r. Nothing but a
// decision is an allow.
func (p *player) want(in hookInput, s step, r reply) string {
	e, v := in.event(), r.verdict()
	switch {
	case !e.blocks():
		return ""
	case e == preToolUse && p.rec.Terminal:
		return "ask" // the terminal's dialog follows, and PermissionRequest with it
	case v == "allow" || v == "deny":
		return v
	case s.Closed:
		return "deny" // to nobody
	case v == "defer" && (p.deferred == "" || p.deferred == in.ToolUseID):
		p.deferred = in.ToolUseID
		return v // the host would forget the first of two
	case p.rec.Terminal:
		return ""
	}
	return "deny"
}

func (p *player) play(n int, s step) {
	in := read(p.t, string(s.In))
	r := readReply(p.t, s.Out)
	c := claude(p.gate, string(rune('a'+n)), p.rec.Terminal)
	if r.verdict() == "defer" {
		c.Defer = time.Second
	}
	ctx, cancel := limited(p.t.Context())
	defer cancel()
	if s.Closed {
		time.AfterFunc(time.Second, cancel)
	}
	out := make(chan Answer, 1)
	go func() {
		a, err := c.Answer(ctx, in)
		if err != nil {
			a = in.event().deny(err.Error())
		}
		out <- a
	}()
	synctest.Wait()
	edited := in.ToolInput
	if v := r.verdict(); in.event().blocks() && (v == "allow" || v == "deny") && (in.event() == permissionRequest || !p.rec.Terminal) {
		edited = p.decide(in, r)
	}
	got := readReply(p.t, (<-out).Out)
	want := p.want(in, s, r)
	if got.verdict() != want || got.verdict() != "" && got.HookSpecificOutput.HookEventName != in.HookEventName {
		p.t.Errorf("step %d, %s: answered %q, want %q", n, in.HookEventName, got.verdict(), want)
	}
	if got.verdict() == "deny" && got.interrupts() != r.interrupts() {
		p.t.Errorf("step %d: interrupts %v, recorded %v", n, got.interrupts(), r.interrupts())
	}
	if got.verdict() == "allow" && !sameJSON(got.input(), edited) {
		p.t.Errorf("step %d: runs with %s, want %s (P5)", n, got.input(), edited)
	}
}

// decide does what the recorded answer did, and returns what is to run.
func (p *player) decide(in hookInput, r reply) json.RawMessage {
	call := p.waiting(in)
	d := gatelatch.Decision{State: gatelatch.Denied, Note: r.HookSpecificOutput.Decision.Message, Interrupt: r.interrupts()}
	runs := in.ToolInput
	if r.verdict() == "allow" {
		d = gatelatch.Decision{State: gatelatch.Allowed}
		if r.input() != nil {
			runs = r.input()
		}
	}
	switch {
	case d.State == gatelatch.Allowed && in.ToolName == "AskUserQuestion":
		var with struct {
			Answers map[string]string `json:"answers"`
		}
		if err := json.Unmarshal(runs, &with); err != nil {
			p.t.Fatal(err)
		}
		if d.Answers = with.Answers; d.Answers == nil { // the host ignores an allow without answers, so there is none here
			d.Answers = map[string]string{"Which database?": "Mongo"}
			runs = json.RawMessage(strings.TrimSuffix(string(in.ToolInput), "}") + `,"answers":{"Which database?":"Mongo"}}`)
		}
	case d.State == gatelatch.Allowed && !sameJSON(runs, in.ToolInput):
		b, err := p.gate.As(person).Edit(p.t.Context(), call.ID, call.Digest, runs)
		if err != nil {
			p.t.Fatal(err)
		}
		call = b.Call(call.ID)
	}
	d.Digest = call.Digest
	if _, err := p.gate.As(person).Decide(p.t.Context(), call.ID, d); err != nil {
		p.t.Fatal(err)
	}
	return runs
}

// waiting finds the one call that was asked: a dialog and its PreToolUse are
// the same one.
func (p *player) waiting(in hookInput) *gatelatch.Call {
	p.t.Helper()
	var found []*gatelatch.Call
	list, err := p.gate.As(person).List(p.t.Context(), gatelatch.Query{Pending: true})
	for _, c := range list.Calls {
		if c.Tool == in.ToolName && sameJSON(c.Input, in.ToolInput) && c.Batch.Subagent == in.AgentID {
			found = append(found, c.Call)
		}
	}
	if err != nil || len(found) != 1 {
		p.t.Fatalf("%d calls wait, %v", len(found), err)
	}
	return found[0]
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	ra, errA := json.Marshal(x)
	rb, errB := json.Marshal(y)
	return errA == nil && errB == nil && bytes.Equal(ra, rb)
}

// ended reports whether the recording goes on to where nothing can wait. We
// don't make the terminal wait before its dialog, so nobody can leave there.
func (p *player) ended() bool {
	for _, s := range p.rec.Steps {
		if e := read(p.t, string(s.In)).event(); e == stop || e == sessionEnd || s.Closed && e == permissionRequest {
			return true
		}
	}
	return false
}

func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		for _, rec := range recordings(t, file) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl")+"/"+rec.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { replay(t, rec) })
			})
		}
	}
}

func recordings(t *testing.T, file string) (out []recording) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var rec recording
		if err := json.Unmarshal(line, &rec); err != nil || len(rec.Steps) == 0 {
			t.Fatalf("%s: %d steps, %v", file, len(rec.Steps), err)
		}
		out = append(out, rec)
	}
	return out
}

func replay(t *testing.T, rec recording) {
	rules, err := policy.Parse("policy.yaml", []byte("version: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := gatelatch.New(memory.New(memory.Options{}), rules)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); g.Run(ctx) }()
	defer func() { cancel(); <-done }()
	p := &player{t: t, gate: g, rec: rec}
	for n, s := range rec.Steps {
		p.play(n, s)
	}
	list, err := g.As(person).List(t.Context(), gatelatch.Query{Pending: true})
	if err != nil || p.ended() && len(list.Calls) > 0 {
		t.Errorf("%d calls still wait, %v", len(list.Calls), err)
	}
}

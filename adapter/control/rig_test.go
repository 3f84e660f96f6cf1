package control

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/memory"
)

var (
	person = gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_m", Name: "mira"}
	agent  = gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}
)

// rig is a host over the real gate, with an agent that is played by a test.
type rig struct {
	t     *testing.T
	gate  *gatelatch.Gate
	host0 *Host
	stop  func()

	requests map[string]CanUseTool

	mu      sync.Mutex
	sent    []Message
	notices []Notice
}

func newRig(t *testing.T, opt Options) *rig {
	t.Helper()
	rules, err := policy.Parse("policy.yaml", []byte("version: 1\nallow:\n  - Bash(pwd)\ndeny:\n  - rule: Bash(rm:*)\n    why: deletes\n"))
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New(memory.Options{})
	r := &rig{t: t, gate: gatelatch.New(store, rules), requests: map[string]CanUseTool{}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.gate.Run(ctx) })
	r.stop = sync.OnceFunc(func() { cancel(); wg.Wait(); _ = store.Close() })
	t.Cleanup(r.stop)
	if opt.Service == nil {
		opt.Service = r.gate.As(agent)
	}
	opt.Session, opt.Holder = gatelatch.SessionInfo{Name: "Claude Code"}, "hld_1"
	opt.Send = r.send
	opt.Notice = func(n Notice) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, n)
	}
	r.host0 = New(opt)
	return r
}

func (r *rig) send(line []byte) error {
	m, err := Read(line)
	if err != nil || bytes.ContainsRune(line, '\n') {
		r.t.Errorf("the host sent %q: %v", line, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, m)
	return nil
}

// hear plays a line of the agent.
func (r *rig) hear(line []byte) {
	r.t.Helper()
	if m, err := Read(line); err == nil && m.Type == TypeRequest {
		if q, err := m.CanUseTool(); err == nil {
			r.requests[m.RequestID] = q
		}
	}
	if _, err := r.host0.Receive(line); err != nil {
		r.t.Error(err)
	}
	synctest.Wait()
}

func (r *rig) since(n int) []Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent[n:])
}

// answered returns the answer to a request, or nil.
func (r *rig) answered(requestID string) (out *Result) {
	r.t.Helper()
	for _, m := range r.since(0) {
		if m.Type != TypeResponse || m.Response.RequestID != requestID {
			continue
		}
		if out != nil {
			r.t.Errorf("%s was answered twice", requestID)
		}
		out = &Result{Message: m.Response.Error}
		if m.Response.Response != nil {
			if err := json.Unmarshal(m.Response.Response, out); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return out
}

// waiting returns the calls that wait for a person.
func (r *rig) waiting() (out []*gatelatch.Call) {
	r.t.Helper()
	p, err := r.gate.As(person).List(r.t.Context(), gatelatch.Query{Pending: true, Limit: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, l := range p.Calls {
		out = append(out, l.Call)
	}
	return out
}

// settle decides a call as an answer of the protocol says.
func (r *rig) settle(c *gatelatch.Call, as Result) {
	r.t.Helper()
	d := gatelatch.Decision{State: gatelatch.Denied, Digest: c.Digest, Note: as.Message, Interrupt: as.Interrupt}
	if as.Behavior == behaviorAllow {
		d = gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest}
		for _, p := range as.UpdatedPermissions {
			if p.Type == "setMode" {
				d.Mode = gatelatch.Mode(p.Mode)
			}
		}
		var in struct {
			Answers map[string]json.RawMessage `json:"answers"`
		}
		if c.Kind == gatelatch.Question {
			if err := json.Unmarshal(as.UpdatedInput, &in); err != nil {
				r.t.Fatal(err)
			}
			d.Answers = map[string]string{}
			for q, a := range in.Answers {
				d.Answers[q] = strings.NewReplacer(`["`, "", `"]`, "", `", "`, ", ", `","`, ", ", `"`, "").Replace(string(a))
			}
		} else if as.UpdatedInput != nil && !sameJSON(as.UpdatedInput, c.Input) {
			b, err := r.gate.As(person).Edit(r.t.Context(), c.ID, c.Digest, as.UpdatedInput)
			if err != nil {
				r.t.Fatal(err)
			}
			d.Digest = b.Call(c.ID).Digest
		}
	}
	if _, err := r.gate.As(person).Decide(r.t.Context(), c.ID, d); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

// all returns every call there ever was.
func (r *rig) all() (out []gatelatch.Listed) {
	r.t.Helper()
	for _, pending := range []bool{true, false} {
		p, err := r.gate.As(person).List(r.t.Context(), gatelatch.Query{Pending: pending, Limit: 100})
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, p.Calls...)
	}
	return out
}

// wantAllAnswered checks what holds at the end of every connection: nothing
// waits, no request got two answers, and each allow was a person's or a rule's.
func (r *rig) wantAllAnswered() {
	r.t.Helper()
	allowed := map[string]bool{}
	for _, l := range r.all() {
		if l.State == gatelatch.Pending {
			r.t.Errorf("%s %s still waits", l.Tool, l.Ref)
		}
		if l.State == gatelatch.Allowed {
			allowed[strings.Split(l.Ref, "~")[0]] = true
		}
	}
	for id, q := range r.requests {
		if a := r.answered(id); a != nil && a.Behavior == behaviorAllow && !allowed[q.ToolUseID] {
			r.t.Errorf("%s was answered with an allow that nobody gave", q.ToolUseID)
		}
	}
}

// noticed reports whether there was such a notice.
func (r *rig) noticed(k NoticeKind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.notices, func(n Notice) bool { return n.Kind == k })
}

package gatelatch_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/store/memory"
	"github.com/gatelatch/gatelatch/store/sqlite"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	agentA = gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a", Name: "a"}
	agentB = gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_b", Name: "b"}
	mira   = gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_m", Name: "mira"}
	otto   = gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_o", Name: "otto"}
)

// byTool is a policy whose verdict is the tool's name.
type byTool struct{}

func (byTool) Judge(_ context.Context, c *gatelatch.Call, s *gatelatch.Session, grants []*gatelatch.Grant) gatelatch.Verdict {
	var e gatelatch.Effect
	_ = e.UnmarshalText([]byte(c.Tool))
	if c.Tool == "panic" {
		panic("policy")
	}
	v := gatelatch.Verdict{Effect: e, Reasons: []gatelatch.Reason{{Effect: e, Layer: "test", Rule: c.Tool, Message: "rule " + c.Tool}}}
	for _, g := range grants {
		if e == gatelatch.Ask && g.Match == c.Tool {
			v.Effect, v.Grant = gatelatch.Allow, g.ID
		}
	}
	if e == gatelatch.Ask && s.ModeAt(time.Now()) == gatelatch.ModeBypass {
		v.Effect, v.Mode = gatelatch.Allow, gatelatch.ModeBypass
	}
	return v
}

// Remember remembers the tool, if it is one that asks.
func (byTool) Remember(c *gatelatch.Call, _ *gatelatch.Session, _ gatelatch.Scope) (string, error) {
	if c.Tool != "ask" {
		return "", errors.New("only ask is remembered")
	}
	return c.Tool, nil
}

// Covers implements gatelatch.Policy.
func (p byTool) Covers(match string, c *gatelatch.Call, s *gatelatch.Session, scope gatelatch.Scope) error {
	if want, err := p.Remember(c, s, scope); err != nil || want != match {
		return errors.Join(err, fmt.Errorf("%s does not cover %s", match, c.Tool))
	}
	return nil
}

// hold is how a host holds a batch whose calls it runs at once.
func hold(holder string) gatelatch.Hold { return gatelatch.Hold{Holder: holder, Consume: true} }

// world is a gate over a database that can be closed and opened again.
type world struct {
	t      *testing.T
	dir    string
	hooks  []gatelatch.Hook
	policy gatelatch.Policy // instead of byTool
	held   *memory.Store    // instead of a database
	grace  time.Duration
	gate   *gatelatch.Gate
	stop   func()
}

// newQuickWorld keeps everything in memory, for tests that last months.
func newQuickWorld(t *testing.T) *world {
	w := &world{t: t, held: memory.New(memory.Options{})}
	w.start()
	return w
}

func newWorld(t *testing.T, hooks ...gatelatch.Hook) *world {
	w := &world{t: t, dir: t.TempDir(), hooks: hooks}
	w.start()
	return w
}

func (w *world) start() {
	w.t.Helper()
	var s gatelatch.Store = unclosed{w.held}
	if w.held == nil {
		var err error
		if s, err = sqlite.Open(context.Background(), filepath.Join(w.dir, "g.db"), sqlite.Options{}); err != nil {
			w.t.Fatal(err)
		}
	}
	var p gatelatch.Policy = byTool{}
	if w.policy != nil {
		p = w.policy
	}
	w.gate = gatelatch.New(s, p, w.hooks...)
	w.gate.Grace = w.grace
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { w.gate.Run(ctx) })
	w.stop = sync.OnceFunc(func() { cancel(); wg.Wait(); _ = s.Close() })
	w.t.Cleanup(w.stop)
}

// unclosed is a store that outlives its gate.
type unclosed struct{ *memory.Store }

func (unclosed) Close() error { return nil }

func (w *world) restart() { w.stop(); w.start() }

// message proposes one call of each tool.
func message(id string, tools ...string) gatelatch.Proposal {
	p := gatelatch.Proposal{Session: gatelatch.SessionInfo{ID: "s1", Name: "Agent", Project: "/p"}, Message: id}
	for i, tool := range tools {
		p.Calls = append(p.Calls, gatelatch.ProposedCall{Ref: fmt.Sprintf("%s_%d", id, i), Kind: gatelatch.Permission, Tool: tool, Input: []byte(`{"command": "a && b"}`), Dir: "/p"})
	}
	return p
}

func (w *world) propose(p gatelatch.Proposal) *gatelatch.Batch {
	w.t.Helper()
	b, err := w.gate.As(agentA).Propose(w.t.Context(), p)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *world) decide(who gatelatch.Actor, c *gatelatch.Call, state gatelatch.State) error {
	_, err := w.gate.As(who).Decide(w.t.Context(), c.ID, gatelatch.Decision{State: state, Digest: c.Digest})
	return err
}

func TestPolicySettlesWhatItCan(t *testing.T) {
	w := newWorld(t)
	for tool, want := range map[string]gatelatch.State{
		"allow": gatelatch.Allowed, "ask": gatelatch.Pending, "deny": gatelatch.Denied, "gibberish": gatelatch.Denied, "panic": gatelatch.Denied,
	} {
		p := message("m_"+tool, tool)
		p.Hold = hold("h1")
		b := w.propose(p)
		if got := b.Calls[0].State; got != want {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
		if opened := b.Opened != nil; opened != (want != gatelatch.Pending) {
			t.Errorf("%s: opened %v", tool, opened)
		}
	}
}

// P7: request, restart, decision, with no agent and in virtual time.
func TestRequestRestartDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.propose(message("m1", "ask"))
		<-time.After(72 * time.Hour) // of virtual time
		w.restart()
		again := w.propose(message("m1", "ask"))
		if again.ID != b.ID || again.Calls[0].State != gatelatch.Pending {
			t.Fatalf("after three days and a restart: %s %s", again.ID, again.Calls[0].State)
		}
		got := make(chan *gatelatch.Batch)
		go func() {
			b, err := w.gate.As(agentA).Await(t.Context(), b.ID, hold("h1"))
			if err != nil {
				t.Error(err)
			}
			got <- b
		}()
		synctest.Wait()
		page, err := w.gate.As(mira).List(t.Context(), gatelatch.Query{Pending: true})
		if err != nil || len(page.Calls) != 1 {
			t.Fatalf("listed %d, %v", len(page.Calls), err)
		}
		if err := w.decide(mira, page.Calls[0].Call, gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
		if b := <-got; b.Calls[0].State != gatelatch.Allowed || string(b.Calls[0].Input) != `{"command": "a && b"}` {
			t.Errorf("the waiter got %s with %s", b.Calls[0].State, b.Calls[0].Input)
		}
		w.stop()
	})
}

func TestExpiryIsADenialWithItsOwnText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := message("m1", "ask")
		p.Limit = time.Hour
		b := w.propose(p)
		start := time.Now()
		b, err := w.gate.As(agentA).Await(t.Context(), b.ID, hold("h1"))
		if err != nil || b.Calls[0].State != gatelatch.Expired || time.Since(start) < time.Hour {
			t.Fatalf("%v, %s after %v", err, b.Calls[0].State, time.Since(start))
		}
		if text := b.Calls[0].Answer(); !strings.Contains(text, "in time") {
			t.Errorf("the agent reads %q", text)
		}
		if err := w.decide(mira, b.Calls[0], gatelatch.Allowed); !errors.Is(err, gatelatch.ErrSettled) {
			t.Errorf("allowing it later: %v", err)
		}
		w.stop()
	})
}

func TestBatchOpensWhenAllAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.propose(message("m1", "ask", "allow", "ask"))
		opened := make(chan *gatelatch.Batch, 1)
		go func() {
			b, err := w.gate.As(agentA).Await(t.Context(), b.ID, hold("h1"))
			if err != nil {
				t.Error(err)
			}
			opened <- b
		}()
		if err := w.decide(mira, b.Calls[0], gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case <-opened:
			t.Fatal("opened while a call waits")
		default:
		}
		if err := w.decide(otto, b.Calls[2], gatelatch.Denied); err != nil {
			t.Fatal(err)
		}
		b = <-opened
		for i, want := range []gatelatch.State{gatelatch.Allowed, gatelatch.Allowed, gatelatch.Denied} {
			if got := b.Calls[i].State; got != want {
				t.Errorf("call %d is %s, want %s", i, got, want)
			}
		}
		if got := b.Calls[2].Answer(); got != "User denied the request." {
			t.Errorf("the denied call answers %q", got)
		}
		w.stop()
	})
}

func TestProposingAgain(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "ask"))
	if again := w.propose(message("m1", "ask")); again.ID != b.ID {
		t.Error("the same proposal made a second batch")
	}
	p := message("m1", "ask")
	p.Calls[0].Input = []byte(`{"command":"other"}`)
	if _, err := w.gate.As(agentA).Propose(t.Context(), p); !errors.Is(err, gatelatch.ErrConflict) {
		t.Errorf("the same id with another input (T9): %v", err)
	}
	other, err := w.gate.As(agentB).Propose(t.Context(), message("m1", "ask"))
	if err != nil || other.ID == b.ID {
		t.Errorf("another agent's proposal met the first one's batch: %v", err)
	}
}

// A host that repeats a call without its id finds the batch it asked with.
func TestRepeatedCallIsPaired(t *testing.T) {
	w := newWorld(t)
	first := func(id string) *gatelatch.Batch {
		p := message(id, "ask")
		p.Pair = "turn1"
		return w.propose(p)
	}
	repeat := func(holder, turn string) *gatelatch.Batch {
		p := message(holder, "ask")
		p.Calls[0].Ref, p.Pair, p.Repeats, p.Hold = "", turn, true, hold(holder)
		return w.propose(p)
	}
	b, twin := first("m1"), first("m2")
	if got := repeat("h1", "turn1"); got.ID != b.ID {
		t.Error("the repetition made a second batch")
	}
	if got := repeat("h1", "turn1"); got.ID != b.ID {
		t.Error("asking again as the same holder is not the same")
	}
	if got := repeat("h2", "turn1"); got.ID != twin.ID {
		t.Error("two calls that look alike wait on one batch")
	}
	if got := repeat("h3", "turn2"); got.ID == b.ID || got.ID == twin.ID {
		t.Error("another turn was taken for the same")
	}
	if err := w.gate.As(agentA).Withdraw(t.Context(), b.ID, "gone"); err != nil {
		t.Fatal(err)
	}
	if got := repeat("h4", "turn1"); got.ID == b.ID || got.Calls[0].State != gatelatch.Pending {
		t.Error("asking again after a withdrawal is not a new question")
	}
}

// SEC-04, I11: an agent can only ask; a person does not propose.
func TestSeatsAreSeparate(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "ask"))
	ctx, c := t.Context(), b.Calls[0]
	d := gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest}
	for name, do := range map[string]func(*gatelatch.Seat) error{
		"decide": func(s *gatelatch.Seat) error { _, err := s.Decide(ctx, c.ID, d); return err },
		"list":   func(s *gatelatch.Seat) error { _, err := s.List(ctx, gatelatch.Query{}); return err },
		"events": func(s *gatelatch.Seat) error { _, err := s.Events(ctx, 0, 1); return err },
		"call":   func(s *gatelatch.Seat) error { _, err := s.Call(ctx, c.ID); return err },
		"status": func(s *gatelatch.Seat) error { _, err := s.Status(ctx); return err },
		"pause":  func(s *gatelatch.Seat) error { return s.Pause(ctx, "") },
		"resume": func(s *gatelatch.Seat) error { return s.Unpause(ctx) },
	} {
		for _, who := range []gatelatch.Actor{agentA, {}, {Kind: gatelatch.PersonActor}, {Kind: gatelatch.ClockActor, ID: "x"}} {
			if err := do(w.gate.As(who)); !errors.Is(err, gatelatch.ErrForbidden) {
				t.Errorf("%s as %+v: %v", name, who, err)
			}
		}
	}
	if _, err := w.gate.As(mira).Propose(ctx, message("m2", "ask")); !errors.Is(err, gatelatch.ErrForbidden) {
		t.Errorf("a person proposes: %v", err)
	}
	for name, err := range map[string]error{
		"batch":    func() error { _, err := w.gate.As(agentB).Batch(ctx, b.ID); return err }(),
		"await":    func() error { _, err := w.gate.As(agentB).Await(ctx, b.ID, hold("h")); return err }(),
		"withdraw": w.gate.As(agentB).Withdraw(ctx, b.ID, ""),
		"report":   w.gate.As(agentB).Report(ctx, gatelatch.Report{Session: "s1", Ref: "m1_0"}),
	} {
		if !errors.Is(err, gatelatch.ErrNotFound) {
			t.Errorf("another agent's %s: %v", name, err)
		}
	}
}

func TestBadProposalsAreRefused(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*gatelatch.Proposal){
		"no session":   func(p *gatelatch.Proposal) { p.Session.ID = "" },
		"no message":   func(p *gatelatch.Proposal) { p.Message = "" },
		"no calls":     func(p *gatelatch.Proposal) { p.Calls = nil },
		"no tool":      func(p *gatelatch.Proposal) { p.Calls[0].Tool = "" },
		"unknown kind": func(p *gatelatch.Proposal) { p.Calls[0].Kind = "bogus" },
		"broken input": func(p *gatelatch.Proposal) { p.Calls[0].Input = []byte(`{"a":`) },
		"input too large": func(p *gatelatch.Proposal) {
			p.Calls[0].Input = []byte(`"` + strings.Repeat("a", gatelatch.MaxInput) + `"`)
		},
		"too many calls":  func(p *gatelatch.Proposal) { p.Calls = make([]gatelatch.ProposedCall, gatelatch.MaxCalls+1) },
		"two with one id": func(p *gatelatch.Proposal) { p.Calls = append(p.Calls, p.Calls[0]) },
		"not UTF-8":       func(p *gatelatch.Proposal) { p.Session.Name = "\xff" },
		"negative limit":  func(p *gatelatch.Proposal) { p.Limit = -1 },
		"repeat, no turn": func(p *gatelatch.Proposal) { p.Repeats = true },
	} {
		p := message("m1", "allow")
		change(&p)
		if b, err := w.gate.As(agentA).Propose(t.Context(), p); !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("%s: %v, %v", name, b, err)
		}
	}
}

type hookFunc func(*gatelatch.Call) (gatelatch.HookResult, error)

func (hookFunc) Name() string { return "test hook" }
func (f hookFunc) Before(_ context.Context, c *gatelatch.Call, _ *gatelatch.Session) (gatelatch.HookResult, error) {
	return f(c)
}

func TestHooks(t *testing.T) {
	pass := hookFunc(func(*gatelatch.Call) (gatelatch.HookResult, error) { return gatelatch.HookResult{}, nil })
	block := hookFunc(func(*gatelatch.Call) (gatelatch.HookResult, error) {
		return gatelatch.HookResult{Block: true, Reason: "not on Fridays"}, nil
	})
	fail := hookFunc(func(*gatelatch.Call) (gatelatch.HookResult, error) {
		return gatelatch.HookResult{}, errors.New("broke")
	})
	boom := hookFunc(func(*gatelatch.Call) (gatelatch.HookResult, error) { panic("boom") })
	bad := hookFunc(func(*gatelatch.Call) (gatelatch.HookResult, error) {
		return gatelatch.HookResult{Input: []byte("{")}, nil
	})
	swap := hookFunc(func(*gatelatch.Call) (gatelatch.HookResult, error) {
		return gatelatch.HookResult{Input: []byte(`{"command":"swapped"}`)}, nil
	})
	for name, tt := range map[string]struct {
		hooks []gatelatch.Hook
		want  gatelatch.State
		input string
	}{
		"nothing to say":            {[]gatelatch.Hook{pass}, gatelatch.Allowed, `{"command": "a && b"}`},
		"a block is sticky":         {[]gatelatch.Hook{block, pass}, gatelatch.Denied, ""},
		"a failing hook blocks":     {[]gatelatch.Hook{pass, fail}, gatelatch.Denied, ""},
		"a panicking hook blocks":   {[]gatelatch.Hook{boom}, gatelatch.Denied, ""},
		"a broken input blocks":     {[]gatelatch.Hook{bad}, gatelatch.Denied, ""},
		"replaced input is the one": {[]gatelatch.Hook{swap, pass}, gatelatch.Allowed, `{"command":"swapped"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tt.hooks...)
			c := w.propose(message("m1", "allow")).Calls[0]
			if c.State != tt.want || tt.input != "" && string(c.Input) != tt.input {
				t.Errorf("%s with %s; want %s with %s", c.State, c.Input, tt.want, tt.input)
			}
			if again := w.propose(message("m1", "allow")).Calls[0]; again.ID != c.ID {
				t.Error("proposing again made another call")
			}
		})
	}
}

func TestPause(t *testing.T) {
	w := newWorld(t)
	ctx, person := t.Context(), w.gate.As(mira)
	waits := w.propose(message("m1", "ask"))
	taken := w.propose(message("m2", "allow"))
	if err := person.Pause(ctx, "fire drill"); err != nil {
		t.Fatal(err)
	}
	if b, err := person.Batch(ctx, waits.ID); err != nil || b.Calls[0].State != gatelatch.Denied {
		t.Errorf("what waited is %s, %v", b.Calls[0].State, err)
	}
	late, err := w.gate.As(agentA).Await(ctx, taken.ID, hold("h"))
	if err != nil || late.Calls[0].State != gatelatch.Revoked || !strings.Contains(late.Calls[0].Answer(), "fire drill") {
		t.Errorf("taking an earlier allow: %+v, %v", late, err)
	}
	b := w.propose(message("m3", "allow"))
	if c := b.Calls[0]; c.State != gatelatch.Denied || !strings.Contains(c.Answer(), "paused by mira") || !strings.Contains(c.Answer(), "fire drill") {
		t.Errorf("while paused: %s, %q", c.State, c.Answer())
	}
	w.restart()
	if b := w.propose(message("m4", "allow")); b.Calls[0].State != gatelatch.Denied {
		t.Error("the pause did not survive a restart")
	}
	if err := w.gate.As(otto).Unpause(ctx); err != nil {
		t.Fatal(err)
	}
	if b := w.propose(message("m5", "allow")); b.Calls[0].State != gatelatch.Allowed {
		t.Error("still denied after the pause")
	}
}

// T12: a change wakes the waiters of its batch and nobody else, so that many
// waiters cost little.
func TestManyWaiters(t *testing.T) {
	w := newWorld(t)
	const n = 150 // enough to see a broadcast; under the race detector SQLite is slow
	batches := make([]*gatelatch.Batch, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			b, err := w.gate.As(agentA).Propose(t.Context(), message(fmt.Sprint("m", i), "ask"))
			if err != nil {
				t.Error(err)
				return
			}
			batches[i] = b
		})
	}
	wg.Wait()
	for i := range n {
		wg.Go(func() {
			b, err := w.gate.As(agentA).Await(t.Context(), batches[i].ID, hold("h"))
			if err != nil || b.Calls[0].State != gatelatch.Allowed {
				t.Errorf("waiter %d: %v", i, err)
			}
		})
	}
	for i := range n {
		if err := w.decide(mira, batches[i].Calls[0], gatelatch.Allowed); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// I10: the trail tells everything once, in order and chained.
func TestTrail(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "ask", "deny"))
	if err := w.decide(mira, b.Calls[0], gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	if _, err := w.gate.As(agentA).Await(t.Context(), b.ID, hold("h")); err != nil {
		t.Fatal(err)
	}
	if err := w.gate.As(agentA).Report(t.Context(), gatelatch.Report{Session: "s1", Ref: "m1_0", OK: true}); err != nil {
		t.Fatal(err)
	}
	es, err := w.gate.As(mira).Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var chain audit.Chain
	var kinds []string
	for _, e := range es {
		if err := chain.Next(e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == gatelatch.CallDecided && e.By.Kind != gatelatch.PersonActor {
			t.Errorf("event %d: decided by %s", e.Seq, e.By.Kind)
		}
		if strings.Contains(string(e.Body), "a && b") {
			t.Errorf("event %d holds an input", e.Seq)
		}
		kinds = append(kinds, string(e.Kind))
	}
	want := "call.proposed call.judged call.proposed call.judged call.decided batch.opened call.consumed call.reported"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("trail %s\nwant  %s", got, want)
	}
}

package gatelatch_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

type afterFunc func(context.Context, *gatelatch.Call, *gatelatch.Session) error

func (afterFunc) Name() string { return "teller" }
func (f afterFunc) After(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session) error {
	return f(ctx, c, s)
}

// O7: told of success and failure, with the input that ran, once it is durable,
// and once for each call.
func TestAfterHooks(t *testing.T) {
	swap := hookFunc(func(*gatelatch.Call) (gatelatch.HookResult, error) {
		return gatelatch.HookResult{Input: []byte(`{"command":"swapped"}`)}, nil
	})
	w := newWorld(t, swap)
	ctx, agent := t.Context(), w.gate.As(agentA)
	told := make(chan string, 10)
	w.gate.TellAfter(slog.New(slog.DiscardHandler), afterFunc(func(_ context.Context, c *gatelatch.Call, s *gatelatch.Session) error {
		if b, err := w.gate.As(mira).Call(context.Background(), c.ID); err != nil || b.Outcome == nil {
			t.Errorf("told of %s before it is durable: %v", c.Ref, err)
		}
		told <- c.Ref + " " + string(c.Outcome.Kind) + " " + string(c.Outcome.Result) + " " + string(c.Input) + " " + s.Project
		return nil
	}))

	b := w.propose(message("m1", "allow", "allow", "deny"))
	tool := func(_ context.Context, r *gatelatch.Running) ([]byte, error) {
		if r.Ref == "m1_1" {
			return nil, errors.New("no")
		}
		return []byte("yes"), nil
	}
	if _, err := gatelatch.RunBatch(ctx, agent, b.ID, gatelatch.Hold{Holder: "h"}, tool); err != nil {
		t.Fatal(err)
	}
	// A report that is repeated, and one of a host that runs calls by itself.
	again := gatelatch.Report{Batch: b.ID, Call: b.Calls[0].ID, Fence: 1, OK: true, Result: []byte("yes")}
	if err := agent.Report(ctx, again); err != nil {
		t.Fatal(err)
	}
	p := message("m2", "allow")
	p.Hold = hold("h")
	w.propose(p)
	for range 2 {
		if err := agent.Report(ctx, gatelatch.Report{Session: "s1", Ref: "m2_0", OK: true}); err != nil {
			t.Fatal(err)
		}
	}
	// A call that still waited ran because somebody answered elsewhere.
	w.propose(message("m3", "ask"))
	if err := agent.Report(ctx, gatelatch.Report{Session: "s1", Ref: "m3_0"}); err != nil {
		t.Fatal(err)
	}
	w.gate.WaitAfter(ctx)
	close(told)
	got := map[string]bool{}
	for s := range told {
		if got[s] {
			t.Errorf("told twice of %s", s)
		}
		got[s] = true
	}
	for _, want := range []string{
		`m1_0 done yes {"command":"swapped"} /p`, `m1_1 failed no {"command":"swapped"} /p`, `m2_0 done  {"command":"swapped"} /p`,
		`m3_0 failed  {"command":"swapped"} /p`,
	} {
		if !got[want] {
			t.Errorf("not told of %s; got %v", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("got %v", got)
	}
}

// O7: nobody waits for a hook, and its failure only stands in the log.
func TestAfterHooksAreNotAwaited(t *testing.T) {
	w := newWorld(t)
	var log strings.Builder
	release := make(chan struct{})
	w.gate.TellAfter(slog.New(slog.NewTextHandler(&log, nil)),
		afterFunc(func(context.Context, *gatelatch.Call, *gatelatch.Session) error {
			<-release
			return errors.New("no disk")
		}),
		afterFunc(func(_ context.Context, c *gatelatch.Call, _ *gatelatch.Session) error { panic(string(c.Input)) }))
	p := message("m1", "allow")
	p.Hold = hold("h")
	w.propose(p)
	if err := w.gate.As(agentA).Report(t.Context(), gatelatch.Report{Session: "s1", Ref: "m1_0", OK: true}); err != nil {
		t.Fatal(err)
	}
	close(release)
	w.gate.WaitAfter(t.Context())
	if s := log.String(); !strings.Contains(s, "no disk") || !strings.Contains(s, "it panicked") || strings.Contains(s, "command") {
		t.Errorf("the log: %s", s)
	}
}

// A hook changes a call by what it returns, and in no other way.
func TestHooksGetACopy(t *testing.T) {
	w := newWorld(t, hookFunc(func(c *gatelatch.Call) (gatelatch.HookResult, error) {
		copy(c.Input, `{"command": "evil"}`)
		c.Tool, c.Dir = "allow", "/"
		return gatelatch.HookResult{}, nil
	}))
	if c := w.propose(message("m1", "ask")).Calls[0]; c.State != gatelatch.Pending || string(c.Input) != `{"command": "a && b"}` {
		t.Errorf("%s with %s", c.State, c.Input)
	}
}

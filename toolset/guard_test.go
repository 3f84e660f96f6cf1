package toolset

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/memory"
)

// world is a gate with its person, and a tool that notes what it ran with.
type world struct {
	t      *testing.T
	guard  *Guard
	person *gatelatch.Seat
	agent  *gatelatch.Seat
	ran    []string
	fail   error
	log    *strings.Builder

	deciding sync.WaitGroup
}

// inWorld runs a test in a bubble: time passes when everybody waits.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(memory.Options{})
		gate := gatelatch.New(store, policy.Default())
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); gate.Run(ctx) }()
		defer func() { stop(); <-ended; _ = store.Close() }()
		w := &world{t: t, log: new(strings.Builder)}
		w.person = gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_m", Name: "mira"})
		w.agent = gate.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"})
		w.guard = &Guard{Service: w.agent, Session: gatelatch.SessionInfo{ID: "s", Name: "agent"}, Log: slog.New(slog.NewTextHandler(w.log, nil))}
		test(t, w)
		w.deciding.Wait()
		w.guard.Wait(t.Context())
	})
}

func (w *world) raw(name string) Tool {
	return Tool{Name: name, Run: Func(func(_ context.Context, c Call) ([]byte, error) {
		w.ran = append(w.ran, string(c.Input))
		return []byte("did " + name), w.fail
	})}
}

func (w *world) wrap(tools ...Tool) []Tool {
	w.t.Helper()
	out, err := Wrap(w.t.Context(), tools, w.guard)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) tool() Tool { return w.wrap(w.raw("deploy"))[0] }

// decide settles, once everybody waits, all that is pending. It returns what
// was shown.
func (w *world) decide(state gatelatch.State) (shown func() []string) {
	var inputs []string
	w.deciding.Go(func() {
		synctest.Wait()
		page, err := w.person.List(w.t.Context(), gatelatch.Query{Pending: true})
		if err != nil {
			w.t.Error(err)
		}
		for _, c := range page.Calls {
			inputs = append(inputs, string(c.Input))
			if _, err := w.person.Decide(w.t.Context(), c.ID, gatelatch.Decision{State: state, Digest: c.Digest, Note: "so"}); err != nil {
				w.t.Error(err)
			}
		}
	})
	return func() []string { w.deciding.Wait(); return inputs }
}

func (w *world) pending() int {
	page, err := w.person.List(w.t.Context(), gatelatch.Query{Pending: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(page.Calls)
}

// before is a hook made of a function.
type before func(c *gatelatch.Call) (gatelatch.HookResult, error)

func (before) Name() string { return "check" }
func (f before) Before(_ context.Context, c *gatelatch.Call, _ *gatelatch.Session) (gatelatch.HookResult, error) {
	return f(c)
}

func sets(input string) before {
	return func(*gatelatch.Call) (gatelatch.HookResult, error) {
		return gatelatch.HookResult{Input: []byte(input)}, nil
	}
}

type after func(ctx context.Context, c *gatelatch.Call) error

func (after) Name() string { return "tell" }
func (f after) After(ctx context.Context, c *gatelatch.Call, _ *gatelatch.Session) error {
	return f(ctx, c)
}

var push = Call{ID: "c1", Input: []byte(`{"to":"prod","n":1}`)}

// D8: a tool of an agent asks before it runs.
func TestAWrappedToolAsks(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		tool := w.tool()
		shown := w.decide(gatelatch.Allowed)
		out, err := tool.Run.Run(t.Context(), push)
		if err != nil || string(out) != "did deploy" || len(w.ran) != 1 {
			t.Errorf("got %q, %v, ran %q", out, err, w.ran)
		}
		if diff := cmp.Diff([]string{`{"to":"prod","n":1}`}, shown()); diff != "" {
			t.Error(diff)
		}
		_ = w.decide(gatelatch.Denied)
		_, err = tool.Run.Run(t.Context(), Call{ID: "c2", Input: push.Input})
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.State != gatelatch.Denied || err.Error() != "User denied the request: so" || len(w.ran) != 1 {
			t.Errorf("got %v, ran %q", err, w.ran)
		}
		if _, err := tool.Run.Run(t.Context(), Call{Input: push.Input}); err == nil || len(w.ran) != 1 {
			t.Errorf("without an id: %v", err)
		}
	})
}

func TestNothingIsWrappedWithoutAGate(t *testing.T) {
	t.Parallel()
	run := Func(func(context.Context, Call) ([]byte, error) { return nil, nil })
	for name, tt := range map[string]struct {
		guard *Guard
		run   Runner
	}{
		"no guard":   {nil, run},
		"no gateway": {&Guard{Session: gatelatch.SessionInfo{ID: "s"}}, run},
		"no session": {&Guard{Service: new(gatelatch.Seat)}, run},
		"no tool":    {&Guard{Service: new(gatelatch.Seat), Session: gatelatch.SessionInfo{ID: "s"}}, nil},
	} {
		if got, err := Wrap(t.Context(), []Tool{{Name: "x", Run: tt.run}}, tt.guard); err == nil || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// O5: the last hook to set a field wins, the rest stays; what is left is
// judged, shown, digested and run. O6: the caller's own input is as it was.
func TestReplacedInputIsShownAndRun(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		w.guard.Before = []gatelatch.Hook{sets(`{"to":"test","by":"one"}`), before(func(c *gatelatch.Call) (gatelatch.HookResult, error) {
			if string(c.Input) != `{"to":"test","n":1,"by":"one"}` || c.Tool != "deploy" || c.Ref != "c1" {
				t.Errorf("the second hook sees %s of %s", c.Input, c.Ref)
			}
			copy(c.Input, `{"to":"evil"`) // what it is given is its own
			c.Tool = "other"
			return gatelatch.HookResult{Input: []byte(`{"to":"stage"}`)}, nil
		})}
		var told []string
		w.guard.After = []gatelatch.AfterHook{after(func(_ context.Context, c *gatelatch.Call) error {
			told = append(told, string(c.Input))
			return nil
		})}
		tool := w.tool()
		shown := w.decide(gatelatch.Allowed)
		if _, err := tool.Run.Run(t.Context(), push); err != nil {
			t.Fatal(err)
		}
		w.guard.Wait(t.Context())
		want := []string{`{"to":"stage","n":1,"by":"one"}`}
		for what, got := range map[string][]string{"shown": shown(), "run": w.ran, "told after": told} {
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q", what, got)
			}
		}
		if string(push.Input) != `{"to":"prod","n":1}` {
			t.Errorf("the original became %s", push.Input)
		}
		if n := w.guard.kept.order.Len(); n != 0 {
			t.Errorf("%d inputs are still kept", n)
		}
	})
}

// O6: what a person edited is what after-hooks hear of.
func TestEditedInputReachesAfterHooks(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		told := make(chan string, 1)
		w.guard.After = []gatelatch.AfterHook{after(func(_ context.Context, c *gatelatch.Call) error { told <- string(c.Input); return nil })}
		tool := w.tool()
		go func() {
			synctest.Wait()
			page, err := w.person.List(t.Context(), gatelatch.Query{Pending: true})
			if err != nil || len(page.Calls) != 1 {
				t.Errorf("%d wait, %v", len(page.Calls), err)
				return
			}
			if _, err := w.person.Edit(t.Context(), page.Calls[0].ID, page.Calls[0].Digest, []byte(`{"to":"edited"}`)); err != nil {
				t.Error(err)
			}
			_ = w.decide(gatelatch.Allowed)
		}()
		if _, err := tool.Run.Run(t.Context(), push); err != nil {
			t.Fatal(err)
		}
		if got := <-told; got != `{"to":"edited"}` || !slices.Equal(w.ran, []string{got}) {
			t.Errorf("told %s, ran %q", got, w.ran)
		}
	})
}

// O5: a block is sticky, and a hook that fails blocks. Nothing is asked.
func TestBlocks(t *testing.T) {
	t.Parallel()
	pass := before(func(*gatelatch.Call) (gatelatch.HookResult, error) { return gatelatch.HookResult{}, nil })
	block := before(func(*gatelatch.Call) (gatelatch.HookResult, error) {
		return gatelatch.HookResult{Block: true, Reason: "not on Fridays"}, nil
	})
	for name, tt := range map[string]struct {
		hooks []gatelatch.Hook
		want  string
	}{
		"a block":                  {[]gatelatch.Hook{pass, block}, "not on Fridays"},
		"a block before others":    {[]gatelatch.Hook{block, pass, sets(`{"to":"test"}`)}, "not on Fridays"},
		"a block without a reason": {[]gatelatch.Hook{before(func(*gatelatch.Call) (gatelatch.HookResult, error) { return gatelatch.HookResult{Block: true}, nil })}, "blocked by the hook check"},
		"an error": {[]gatelatch.Hook{before(func(*gatelatch.Call) (gatelatch.HookResult, error) {
			return gatelatch.HookResult{}, errors.New("broke")
		}), pass}, "the hook check failed: broke"},
		"a panic":                    {[]gatelatch.Hook{before(func(*gatelatch.Call) (gatelatch.HookResult, error) { panic("boom") })}, "the hook check failed: panic: boom"},
		"an input that is no object": {[]gatelatch.Hook{sets(`[1]`)}, "the hook check failed: what changes it: JSON, byte 0: not an object"},
		"a field in other capitals":  {[]gatelatch.Hook{sets(`{"TO":"x"}`)}, `the hook check failed: JSON, byte 23: the name "TO" repeats one before it, or differs only in case`},
		"an input that is not JSON":  {[]gatelatch.Hook{sets(`{`)}, "the hook check failed: what changes it: JSON, byte 1: unexpected EOF"},
		"a block that also sets input": {[]gatelatch.Hook{before(func(*gatelatch.Call) (gatelatch.HookResult, error) {
			return gatelatch.HookResult{Block: true, Reason: "no", Input: []byte(`{}`)}, nil
		})}, "no"},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.guard.Before = tt.hooks
			out, err := w.tool().Run.Run(t.Context(), push)
			var blocked *BlockedError
			if !errors.As(err, &blocked) || err.Error() != tt.want || out != nil || len(w.ran) > 0 || w.pending() > 0 {
				t.Errorf("%s: got %v, ran %q", name, err, w.ran)
			}
		})
	}
}

// O5: wrapping again is harmless, also around what was wrapped for abort.
func TestAToolIsWrappedOnce(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		hooked := 0
		w.guard.Before = []gatelatch.Hook{before(func(*gatelatch.Call) (gatelatch.HookResult, error) { hooked++; return gatelatch.HookResult{}, nil })}
		tools := []Tool{w.raw("deploy")}
		for range 3 {
			var err error
			if tools, err = Wrap(t.Context(), tools, w.guard); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.decide(gatelatch.Allowed)
		if _, err := tools[0].Run.Run(t.Context(), push); err != nil || hooked != 1 || len(w.ran) != 1 {
			t.Errorf("%v: hooks ran %d times, the tool %d", err, hooked, len(w.ran))
		}
		// What is put in its place is not wrapped yet.
		tools[0].Run = w.raw("deploy").Run
		if _, done := find[guarded](w.wrap(tools...)[0].Run); !done {
			t.Error("a new runner slipped by")
		}
	})
}

// O4: the tool that hooks and the gate stand around is the normalised one.
func TestSchemasAreNormalisedBeforeWrapping(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		tool := w.raw("deploy")
		tool.Schema = []byte(`{"anyOf":[{"properties":{"to":{"type":"string"}}},{"properties":{"n":{"type":"number"}}}]}`)
		abort, cancel := context.WithCancel(t.Context())
		defer cancel()
		got, trace, err := Build(abort, []Tool{tool}, Context{}, nil, w.guard)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		if string(got[0].Schema) != `{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"number"}}}` || trace[len(trace)-1].Label != "schema" {
			t.Errorf("got %s", got[0].Schema)
		}
		if outer, ok := got[0].Run.(aborting); !ok {
			t.Errorf("the outermost is a %T", got[0].Run)
		} else if _, ok := outer.inner.(guarded); !ok {
			t.Errorf("inside is a %T", outer.inner)
		}
		_ = w.decide(gatelatch.Allowed)
		if out, err := got[0].Run.Run(t.Context(), push); err != nil || string(out) != "did deploy" {
			t.Errorf("%s, %v", out, err)
		}
	})
}

// O7: told of success and of failure, also of calls that were blocked or denied.
func TestAfterHooksHearOfEveryEnd(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		type end struct {
			State  gatelatch.State
			Kind   gatelatch.OutcomeKind
			Result string
		}
		told := make(chan end, 1)
		w.guard.After = []gatelatch.AfterHook{after(func(_ context.Context, c *gatelatch.Call) error {
			told <- end{c.State, c.Outcome.Kind, string(c.Outcome.Result)}
			return nil
		})}
		tool := w.tool()
		run := func(id string, d gatelatch.State) end {
			_ = w.decide(d)
			_, _ = tool.Run.Run(t.Context(), Call{ID: id, Input: push.Input})
			return <-told
		}
		if diff := cmp.Diff(end{gatelatch.Allowed, gatelatch.Done, "did deploy"}, run("1", gatelatch.Allowed)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(end{gatelatch.Denied, gatelatch.Failed, "User denied the request: so"}, run("2", gatelatch.Denied)); diff != "" {
			t.Error(diff)
		}
		w.fail = errors.New("it broke")
		if diff := cmp.Diff(end{gatelatch.Allowed, gatelatch.Failed, "it broke"}, run("3", gatelatch.Allowed)); diff != "" {
			t.Error(diff)
		}
		w.guard.Before = []gatelatch.Hook{before(func(*gatelatch.Call) (gatelatch.HookResult, error) {
			return gatelatch.HookResult{Block: true, Reason: "no"}, nil
		})}
		if diff := cmp.Diff(end{gatelatch.Denied, gatelatch.Failed, "no"}, run("4", gatelatch.Allowed)); diff != "" {
			t.Error(diff)
		}
	})
}

// O7: nobody waits for an after-hook, and its failure is only logged, without
// the call's input.
func TestAfterHooksAreNotAwaited(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		w.guard.After = []gatelatch.AfterHook{
			after(func(context.Context, *gatelatch.Call) error { <-release; return errors.New("no disk") }),
			after(func(_ context.Context, c *gatelatch.Call) error { panic(string(c.Input)) }),
		}
		tool := w.tool()
		_ = w.decide(gatelatch.Allowed)
		out, err := tool.Run.Run(t.Context(), push)
		if err != nil || string(out) != "did deploy" {
			t.Errorf("%s, %v", out, err)
		}
		close(release)
		w.guard.Wait(t.Context())
		if log := w.log.String(); !strings.Contains(log, "no disk") || !strings.Contains(log, "it panicked") || strings.Contains(log, "prod") {
			t.Errorf("the log: %s", log)
		}
	})
}

// O8: both signals reach a tool that runs, and what waits is taken back.
func TestAbortReachesARunningTool(t *testing.T) {
	t.Parallel()
	enough, gone := errors.New("enough"), errors.New("gone")
	for name, by := range map[string]int{"the signal": 0, "the caller": 1} {
		for _, running := range []bool{true, false} {
			inWorld(t, func(t *testing.T, w *world) {
				abort, cancelAbort := context.WithCancelCause(t.Context())
				ctx, cancelCall := context.WithCancelCause(t.Context())
				var saw error
				tool, err := Wrap(abort, []Tool{{Name: "deploy", Run: Func(func(ctx context.Context, _ Call) ([]byte, error) {
					<-ctx.Done()
					saw = context.Cause(ctx)
					return nil, saw
				})}}, w.guard)
				if err != nil {
					t.Fatal(err)
				}
				if running {
					_ = w.decide(gatelatch.Allowed)
				}
				go func() {
					<-time.After(time.Minute)
					[]context.CancelCauseFunc{cancelAbort, cancelCall}[by]([]error{enough, gone}[by])
				}()
				_, err = tool[0].Run.Run(ctx, push)
				want := []error{enough, gone}[by]
				if !errors.Is(err, want) || running && !errors.Is(saw, want) {
					t.Errorf("%s, running %v: the tool saw %v, the caller %v", name, running, saw, err)
				}
				if w.pending() > 0 {
					t.Errorf("%s: the question stays", name)
				}
				cancelAbort(nil)
				cancelCall(nil)
			})
		}
	}
}

func TestAnAbortBeforehandRunsNothing(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		abort, cancel := context.WithCancel(t.Context())
		cancel()
		ts, err := Wrap(abort, []Tool{w.raw("deploy")}, w.guard)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ts[0].Run.Run(t.Context(), push); !errors.Is(err, context.Canceled) || w.pending() > 0 || len(w.ran) > 0 {
			t.Errorf("%v, ran %q", err, w.ran)
		}
	})
}

package gatelatch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

// echo is a tool that gives back its call's ref.
func echo(_ context.Context, r *gatelatch.Running) ([]byte, error) {
	return []byte("ran " + r.Ref), nil
}

func texts(rs []gatelatch.Result) (out []string) {
	for _, r := range rs {
		out = append(out, string(r.Output))
	}
	return out
}

// D5, D6, trap 21: every allowed call runs once and in order, every other gets
// a result too, and all are there before the agent goes on.
func TestRunBatch(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "allow", "ask", "deny", "allow"))
	if err := w.decide(mira, b.Calls[1], gatelatch.Denied); err != nil {
		t.Fatal(err)
	}
	var order []string
	rs, err := gatelatch.RunBatch(t.Context(), w.gate.As(agentA), b.ID, gatelatch.Hold{Holder: "h"}, func(ctx context.Context, r *gatelatch.Running) ([]byte, error) {
		order = append(order, r.Ref)
		return echo(ctx, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"m1_0", "m1_3"}; !slices.Equal(order, want) {
		t.Errorf("ran %v, want %v", order, want)
	}
	if want := []string{"ran m1_0", gatelatch.UserDenied, "Denied by policy: rule deny", "ran m1_3"}; !slices.Equal(texts(rs), want) {
		t.Errorf("results %q, want %q", texts(rs), want)
	}
	w.restart()
	again, err := w.gate.As(agentA).Results(t.Context(), b.ID)
	if err != nil || !slices.Equal(texts(again), texts(rs)) {
		t.Errorf("after a restart: %q, %v", texts(again), err)
	}
	if _, err := gatelatch.RunBatch(t.Context(), w.gate.As(agentA), b.ID, gatelatch.Hold{Holder: "h2"}, echo); !errors.Is(err, gatelatch.ErrFinished) {
		t.Errorf("running it again: %v", err)
	}
}

// D4, trap 20: of many resumers one runs, the others learn so.
func TestManyResumers(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "ask", "ask"))
	for _, c := range b.Calls {
		if err := w.decide(mira, c, gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	ran, lost := map[string]int{}, 0
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			_, err := gatelatch.RunBatch(t.Context(), w.gate.As(agentA), b.ID, gatelatch.Hold{Holder: string(rune('a' + i))}, func(_ context.Context, r *gatelatch.Running) ([]byte, error) {
				mu.Lock()
				defer mu.Unlock()
				ran[r.Ref]++
				return nil, nil
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, gatelatch.ErrOpened), errors.Is(err, gatelatch.ErrFinished):
				lost++
			case err != nil:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if lost != 15 || ran["m1_0"] != 1 || ran["m1_1"] != 1 {
		t.Errorf("%d learned that they are late, runs %v", lost, ran)
	}
}

// D7: a tool that needs another permission gets it without losing the batch.
func TestToolNeedsMore(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "allow", "allow"))
	asked := make(chan struct{})
	type ended struct {
		rs  []gatelatch.Result
		err error
	}
	end := make(chan ended)
	go func() {
		rs, err := gatelatch.RunBatch(t.Context(), w.gate.As(agentA), b.ID, gatelatch.Hold{Holder: "h"}, func(ctx context.Context, r *gatelatch.Running) ([]byte, error) {
			if r.Ref != "m1_0" {
				return echo(ctx, r)
			}
			close(asked)
			got, err := r.Need(ctx, gatelatch.ProposedCall{Ref: "more", Kind: gatelatch.Permission, Tool: "ask", Input: []byte(`{"host":"example.org"}`)})
			if err != nil {
				return nil, err
			}
			return []byte(got[0].State), nil
		})
		end <- ended{rs, err}
	}()
	<-asked
	c := w.waiting()
	if c.Phase != 2 {
		t.Errorf("it came with phase %d", c.Phase)
	}
	if err := w.decide(mira, c, gatelatch.Allowed); err != nil {
		t.Fatal(err)
	}
	got := <-end
	if want := []string{"allowed", "ran m1_1", ""}; got.err != nil || !slices.Equal(texts(got.rs), want) {
		t.Errorf("results %q, %v; want %q", texts(got.rs), got.err, want)
	}
}

// waiting returns the one call that waits, as soon as there is one.
func (w *world) waiting() *gatelatch.Call {
	w.t.Helper()
	for after := gatelatch.Seq(0); ; {
		page, err := w.gate.As(mira).List(w.t.Context(), gatelatch.Query{Pending: true})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(page.Calls) > 0 {
			return page.Calls[0].Call
		}
		es, err := w.gate.As(mira).Follow(w.t.Context(), after, 1000)
		if err != nil {
			w.t.Fatal(err)
		}
		after = es[len(es)-1].Seq
	}
}

// A tool that runs for longer than a lease keeps the batch; one whose process
// is gone loses it, and what it began is unknown (REL-08).
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.propose(message("m1", "allow", "allow"))
		agent := w.gate.As(agentA)
		gone, kill := context.WithCancel(t.Context())
		first := make(chan error)
		go func() {
			_, err := gatelatch.RunBatch(gone, agent, b.ID, gatelatch.Hold{Holder: "h1", Lease: time.Minute}, func(ctx context.Context, _ *gatelatch.Running) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			first <- err
		}()
		<-time.After(time.Hour)
		second := func() ([]gatelatch.Result, error) {
			return gatelatch.RunBatch(t.Context(), agent, b.ID, gatelatch.Hold{Holder: "h2"}, echo)
		}
		if _, err := second(); !errors.Is(err, gatelatch.ErrOpened) {
			t.Errorf("while the first runs: %v", err)
		}
		kill()
		if err := <-first; err == nil {
			t.Error("the first holder finished")
		}
		<-time.After(2 * time.Minute)
		rs, err := second()
		if want := []string{gatelatch.UnknownResult, "ran m1_1"}; err != nil || !slices.Equal(texts(rs), want) {
			t.Errorf("the second: %q, %v; want %q", texts(rs), err, want)
		}
	})
}

// A panic of a tool is its result, not the end of the agent.
func TestToolPanics(t *testing.T) {
	w := newWorld(t)
	b := w.propose(message("m1", "allow"))
	rs, err := gatelatch.RunBatch(t.Context(), w.gate.As(agentA), b.ID, gatelatch.Hold{Holder: "h"}, func(context.Context, *gatelatch.Running) ([]byte, error) { panic("oops") })
	if err != nil || rs[0].Outcome != gatelatch.Failed || !strings.Contains(string(rs[0].Output), "oops") {
		t.Errorf("%+v, %v", rs, err)
	}
}

// REL-04, O11: a waiter that comes days after the decision gets it.
func TestLateWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuickWorld(t)
		early, late := w.propose(message("m1", "ask")), w.propose(message("m2", "ask"))
		for _, b := range []*gatelatch.Batch{early, late} {
			if err := w.decide(mira, b.Calls[0], gatelatch.Allowed); err != nil {
				t.Fatal(err)
			}
		}
		w.restart()
		<-time.After(gatelatch.PermitLife - time.Hour)
		b, err := w.gate.As(agentA).Await(t.Context(), early.ID, hold("h"))
		if err != nil || b.Calls[0].State != gatelatch.Allowed {
			t.Errorf("within a week: %+v, %v", b, err)
		}
		<-time.After(2 * time.Hour)
		b, err = w.gate.As(agentA).Await(t.Context(), late.ID, hold("h"))
		if err != nil || b.Calls[0].State != gatelatch.Lapsed {
			t.Errorf("after a week: %+v, %v", b, err)
		}
	})
}

// O14: what is over is forgotten in the end, and asked again as if new.
func TestOldBatchesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuickWorld(t)
		b := w.propose(message("m1", "deny"))
		waits := w.propose(message("m2", "ask"))
		<-time.After(w.gate.Retention + time.Hour)
		if _, err := w.gate.As(agentA).Batch(t.Context(), b.ID); !errors.Is(err, gatelatch.ErrNotFound) {
			t.Errorf("after %v: %v", w.gate.Retention, err)
		}
		if _, err := w.gate.As(agentA).Batch(t.Context(), waits.ID); err != nil {
			t.Errorf("what still waits: %v", err)
		}
	})
}

// D9, rule 3: a call id is asked about once, whatever message it comes with.
func TestCallIDIsAskedOnce(t *testing.T) {
	w := newWorld(t)
	first := w.propose(message("m1", "ask"))
	p := message("m2", "ask")
	p.Calls[0].Ref = first.Calls[0].Ref
	if again := w.propose(p); again.ID != first.ID {
		t.Error("the same call in another message made another batch")
	}
	p.Message, p.Calls[0].Input = "m3", []byte(`{"command":"other"}`)
	if _, err := w.gate.As(agentA).Propose(t.Context(), p); !errors.Is(err, gatelatch.ErrConflict) {
		t.Errorf("the same id with another input: %v", err)
	}
}

package toolset

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
)

// D1, D2, D5: the calls of a message are one batch, and run in order once all
// are settled; what was blocked or is no tool has its answer in its place.
func TestRunMessage(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		w.guard.Before = []gatelatch.Hook{before(func(c *gatelatch.Call) (gatelatch.HookResult, error) {
			return gatelatch.HookResult{Block: c.Ref == "2", Reason: "no"}, nil
		})}
		tools := w.wrap(w.raw("deploy"), w.raw("test"))
		calls := []ModelCall{
			{"test", Call{"1", []byte(`{"n":1}`)}}, {"deploy", Call{"2", []byte(`{"n":2}`)}},
			{"rm", Call{"3", []byte(`{}`)}}, {"deploy", Call{"4", []byte(`{"n":4}`)}},
		}
		go func() {
			synctest.Wait()
			page, err := w.person.List(t.Context(), gatelatch.Query{Pending: true})
			if err != nil || len(page.Calls) != 2 || page.Calls[0].Batch.ID != page.Calls[1].Batch.ID {
				t.Errorf("%d calls wait, %v", len(page.Calls), err)
				return
			}
			for i, state := range []gatelatch.State{gatelatch.Allowed, gatelatch.Denied} {
				if len(w.ran) > 0 {
					t.Error("a call ran while another waited")
				}
				c := page.Calls[i]
				if _, err := w.person.Decide(t.Context(), c.ID, gatelatch.Decision{State: state, Digest: c.Digest, Interrupt: state == gatelatch.Denied}); err != nil {
					t.Error(err)
				}
				synctest.Wait()
			}
		}()
		for range 2 { // the second time nothing runs, and the answer is the same
			rs, err := RunMessage(t.Context(), "m1", tools, calls)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rs {
				got = append(got, fmt.Sprintf("%s %s %v %v %v", r.Call, r.Output, r.Err, r.Ran, r.Interrupt))
			}
			want := []string{"1 did test <nil> true false", "2  no false false", "3  There is no such tool. false false", "4  User denied the request. false true"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		if diff := cmp.Diff([]string{`{"n":1}`}, w.ran); diff != "" {
			t.Error(diff)
		}
		if _, err := RunMessage(t.Context(), "m2", []Tool{w.raw("deploy")}, calls[3:]); err == nil {
			t.Error("a tool that is not wrapped ran")
		}
		if rs, err := RunMessage(t.Context(), "m3", tools, calls[2:3]); err != nil || rs[0].Err == nil {
			t.Errorf("%v, %v", rs, err)
		}
	})
}

// D9: the same call id is asked about once, and answered the same.
func TestTheSameCallIsAskedOnce(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		tool := w.tool()
		errs := make(chan error, 2)
		for range 2 {
			go func() { _, err := tool.Run.Run(t.Context(), push); errs <- err }()
		}
		synctest.Wait()
		if n := w.pending(); n != 1 {
			t.Errorf("%d calls wait", n)
		}
		_ = w.decide(gatelatch.Allowed)
		first, second := <-errs, <-errs
		if first != nil {
			first, second = second, first
		}
		if first != nil || second != nil && !errors.Is(second, gatelatch.ErrOpened) || len(w.ran) != 1 {
			t.Errorf("%v, %v, ran %q", first, second, w.ran)
		}
		if out, err := tool.Run.Run(t.Context(), push); err != nil || string(out) != "did deploy" || len(w.ran) != 1 {
			t.Errorf("asked again: %s, %v, ran %q", out, err, w.ran)
		}
	})
}

// O10: nobody in time is an answer of its own, neither an error of the gateway
// nor a wait without end.
func TestExpiryIsAnAnswer(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		w.guard.Limit = time.Hour
		began := time.Now()
		_, err := w.tool().Run.Run(t.Context(), push)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.State != gatelatch.Expired || time.Since(began) < time.Hour || time.Since(began) > 61*time.Minute || len(w.ran) > 0 {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// O10: the first decision stands. O11: who comes late still gets it.
func TestALateWaiterGetsTheFirstDecision(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		b, err := w.agent.Propose(t.Context(), gatelatch.Proposal{Session: w.guard.Session, Message: push.ID,
			Calls: []gatelatch.ProposedCall{{Ref: push.ID, Kind: gatelatch.Permission, Tool: "deploy", Input: push.Input}}})
		if err != nil {
			t.Fatal(err)
		}
		c := b.Calls[0]
		if _, err := w.person.Decide(t.Context(), c.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.person.Decide(t.Context(), c.ID, gatelatch.Decision{State: gatelatch.Denied, Digest: c.Digest}); !errors.Is(err, gatelatch.ErrSettled) {
			t.Errorf("a second decision: %v", err)
		}
		<-time.After(14 * time.Second)
		if out, err := w.tool().Run.Run(t.Context(), push); err != nil || string(out) != "did deploy" {
			t.Errorf("%s, %v", out, err)
		}
	})
}

// O6: bounded, the oldest out first, taken out once.
func TestKeptInputs(t *testing.T) {
	t.Parallel()
	var k kept
	for i := range maxKept + 2 {
		k.put(strconv.Itoa(i), []byte(strconv.Itoa(i)))
	}
	if len(k.byID) != maxKept || k.order.Len() != maxKept {
		t.Errorf("%d and %d are kept", len(k.byID), k.order.Len())
	}
	for id, want := range map[string]bool{"0": false, "1": false, "2": true, strconv.Itoa(maxKept + 1): true} {
		got, ok := k.take(id)
		if ok != want || ok && string(got) != id {
			t.Errorf("%s: %s, %v", id, got, ok)
		}
		if _, ok := k.take(id); ok {
			t.Errorf("%s is taken twice", id)
		}
	}
	k.put("a", []byte("1"))
	k.put("a", []byte("2"))
	if got, ok := k.take("a"); !ok || string(got) != "2" || len(k.byID) != k.order.Len() {
		t.Errorf("%s, %v", got, ok)
	}
}

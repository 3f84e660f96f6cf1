// Package storetest holds the promises of gatelatch.Store as a suite that
// every store passes.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
)

// Open opens the store that lies in dir. The suite closes it.
type Open func(t *testing.T, dir string) gatelatch.Store

// Run exercises the stores that open returns.
func Run(t *testing.T, open Open) { run(t, open, basics, finding, aggregates, telling, forgetting) }

// RunCopies exercises those that can also be backed up and restored.
func RunCopies(t *testing.T, open Open) { run(t, open, copies) }

func run(t *testing.T, open Open, suites ...map[string]func(*testing.T, Open)) {
	for _, tests := range suites {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) { test(t, open) })
		}
	}
}

var basics = map[string]func(*testing.T, Open){
	"input bytes come back as they went in (T1)":           inputBytes,
	"a saved batch survives a restart":                     restart,
	"the first decision wins":                              firstDecisionWins,
	"a refused change leaves nothing behind":               refusedChange,
	"a half save that was overlooked leaves nothing":       tornSave,
	"an old version is stale":                              stale,
	"the trail is gapless and chained (I10)":               trail,
	"time never runs backwards (REL-20)":                   timeForward,
	"changes name the batch, after the commit":             changes,
	"a change of nothing tells nobody":                     unchanged,
	"closing with callers gives ErrClosed, no panic (T14)": closing,
	"a panic in a transaction is its caller's error":       panicking,
}

func fresh(t *testing.T, open Open) gatelatch.Store {
	t.Helper()
	s := open(t, t.TempDir())
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var (
	agent  = gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}
	person = gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_p", Name: "mira"}
)

// newBatch proposes n waiting calls in a message.
func newBatch(message string, n int, at time.Time) *gatelatch.Batch {
	return newBatchIn("s1", message, n, at)
}

func newBatchIn(session, message string, n int, at time.Time) *gatelatch.Batch {
	b := &gatelatch.Batch{ID: "bat_" + message, Agent: agent.ID, Session: session, Message: message, Created: at}
	for i := range n {
		c := &gatelatch.Call{ID: fmt.Sprintf("cal_%s_%d", message, i), Ref: fmt.Sprintf("ref_%s_%d", message, i), Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"ls"}`)}
		b.Propose(c, agent, at)
		if err := b.Judge(c, gatelatch.Verdict{Effect: gatelatch.Ask}, at); err != nil {
			panic(err)
		}
	}
	return b
}

func create(t *testing.T, s gatelatch.Store, build func(at time.Time) *gatelatch.Batch) *gatelatch.Batch {
	t.Helper()
	var b *gatelatch.Batch
	must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error {
		b = build(tx.Now())
		if _, err := tx.Session(b.Agent, b.Session); errors.Is(err, gatelatch.ErrNotFound) {
			if err := tx.SaveSession(&gatelatch.Session{Agent: b.Agent, ID: b.Session, Since: tx.Now()}); err != nil {
				return err
			}
		}
		return tx.SaveBatch(b)
	}))
	return b
}

func waiting(message string, n int) func(time.Time) *gatelatch.Batch {
	return func(at time.Time) *gatelatch.Batch { return newBatch(message, n, at) }
}

func decide(s gatelatch.Store, callID, who string, state gatelatch.State) error {
	return s.Update(context.Background(), func(tx gatelatch.Tx) error {
		b, err := tx.BatchOfCall(callID)
		if err != nil {
			return err
		}
		d := gatelatch.Decision{State: state, By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: who, Name: who}, At: tx.Now(), Digest: b.Call(callID).Digest}
		if err := b.Decide(callID, d); err != nil {
			return err
		}
		return tx.SaveBatch(b)
	})
}

// change saves what fn does to a batch.
func change(s gatelatch.Store, id string, fn func(*gatelatch.Batch, time.Time) error) error {
	return s.Update(context.Background(), func(tx gatelatch.Tx) error {
		b, err := tx.Batch(id)
		if err != nil {
			return err
		}
		if err := fn(b, tx.Now()); err != nil {
			return err
		}
		return tx.SaveBatch(b)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func view[T any](t *testing.T, s gatelatch.Store, fn func(r gatelatch.Reader) (T, error)) (out T) {
	t.Helper()
	must(t, s.View(t.Context(), func(r gatelatch.Reader) (err error) { out, err = fn(r); return err }))
	return out
}

func inputBytes(t *testing.T, open Open) {
	s := fresh(t, open)
	raw := "{\"command\": \"a && b <x> \u2028\"  , \"n\":1.0}"
	b := create(t, s, func(at time.Time) *gatelatch.Batch {
		b := &gatelatch.Batch{ID: "bat_x", Agent: agent.ID, Session: "s1", Message: "m", Created: at}
		c := &gatelatch.Call{ID: "cal_x", Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(raw)}
		b.Propose(c, agent, at)
		must(t, b.Judge(c, gatelatch.Verdict{Effect: gatelatch.Ask}, at))
		return b
	})
	got := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_x") })
	if g := string(got.Calls[0].Input); g != raw {
		t.Errorf("input %q, want %q", g, raw)
	}
	if got.Calls[0].Digest != b.Calls[0].Digest {
		t.Error("the digest changed on the way through the store")
	}
	must(t, decide(s, "cal_x", "mira", gatelatch.Allowed))
}

func restart(t *testing.T, open Open) {
	dir := t.TempDir()
	s := open(t, dir)
	create(t, s, waiting("m1", 2))
	must(t, decide(s, "cal_m1_0", "mira", gatelatch.Denied))
	must(t, s.Close())
	s = open(t, dir)
	t.Cleanup(func() { _ = s.Close() })
	b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_m1") })
	if b.Calls[0].State != gatelatch.Denied || b.Calls[0].Decided.By.Name != "mira" || b.Calls[1].State != gatelatch.Pending {
		t.Errorf("after restart: %+v, %+v", b.Calls[0], b.Calls[1])
	}
	must(t, decide(s, "cal_m1_1", "mira", gatelatch.Allowed))
	checkTrail(t, s)
}

func firstDecisionWins(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 1))
	var wg sync.WaitGroup
	won := make(chan string, 32)
	for i := range 32 {
		wg.Go(func() {
			who := fmt.Sprint("p", i)
			state := []gatelatch.State{gatelatch.Allowed, gatelatch.Denied}[i%2]
			err := decide(s, "cal_m1_0", who, state)
			var late *gatelatch.SettledError
			switch {
			case err == nil:
				won <- who
			case !errors.As(err, &late):
				t.Errorf("a late decision got %v", err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d decisions won, want 1", len(won))
	}
	b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.BatchOfCall("cal_m1_0") })
	if got, want := b.Calls[0].Decided.By.Name, <-won; got != want {
		t.Errorf("decided by %s, but %s was told so", got, want)
	}
}

func refusedChange(t *testing.T, open Open) {
	s := fresh(t, open)
	refuse := errors.New("no")
	var wg sync.WaitGroup
	for i := range 20 { // some in one group, so that each is undone by itself
		wg.Go(func() {
			err := s.Update(t.Context(), func(tx gatelatch.Tx) error {
				if err := tx.SaveBatch(newBatch(fmt.Sprint("m", i), 1, tx.Now())); err != nil {
					return err
				}
				if i%2 == 1 {
					return refuse
				}
				return nil
			})
			if want := i%2 == 1; errors.Is(err, refuse) != want {
				t.Errorf("job %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	for i := range 20 {
		err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Batch(fmt.Sprint("bat_m", i)); return err })
		if want := i%2 == 1; errors.Is(err, gatelatch.ErrNotFound) != want {
			t.Errorf("batch %d: %v", i, err)
		}
	}
	checkTrail(t, s)
}

func stale(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 2))
	old := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_m1") })
	must(t, decide(s, "cal_m1_0", "mira", gatelatch.Denied))
	err := s.Update(t.Context(), func(tx gatelatch.Tx) error {
		old.Withdraw(agent, "late", tx.Now())
		return tx.SaveBatch(old)
	})
	if !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("saving an old version: %v, want ErrStale", err)
	}
}

// checkTrail verifies the chain and returns the kinds in order.
func checkTrail(t *testing.T, s gatelatch.Store) (kinds []gatelatch.EventKind) {
	t.Helper()
	var chain audit.Chain
	for _, e := range view(t, s, func(r gatelatch.Reader) ([]gatelatch.Event, error) { return r.Events(0, 1000) }) {
		must(t, chain.Next(e))
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func trail(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 1))
	must(t, decide(s, "cal_m1_0", "mira", gatelatch.Allowed))
	want := []gatelatch.EventKind{gatelatch.CallProposed, gatelatch.CallJudged, gatelatch.CallDecided}
	if got := checkTrail(t, s); !slices.Equal(got, want) {
		t.Errorf("trail %v, want %v", got, want)
	}
}

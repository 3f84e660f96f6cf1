package gatelatch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
)

// An agent that was killed takes nothing back. People see that nobody waits,
// and whoever asks again still gets the answer.
func TestCallThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, held: memory.New(memory.Options{}), grace: 10 * time.Second}
		w.start()
		agent := w.gate.As(agentA)
		b := w.propose(message("m1", "ask"))
		left := func() bool {
			t.Helper()
			synctest.Wait()
			p, err := w.gate.As(mira).List(t.Context(), gatelatch.Query{Pending: true})
			if err != nil || len(p.Calls) != 1 {
				t.Fatalf("%d calls, %v", len(p.Calls), err)
			}
			return !p.Calls[0].Batch.Left.IsZero()
		}
		wait := func() (kill func()) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { _, err := agent.Await(ctx, b.ID, hold("h")); done <- err }()
			return func() {
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		}
		<-time.After(time.Hour)
		if left() {
			t.Error("nobody said that they would wait, so nobody is missed")
		}
		kill := wait()
		<-time.After(time.Hour)
		if left() {
			t.Error("somebody waits")
		}
		kill()
		<-time.After(5 * time.Second)
		if left() {
			t.Error("within the grace")
		}
		other := gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_other"}
		for range 20 { // which keeps it from being missed no more than silence does
			if _, err := w.gate.As(other).Await(t.Context(), b.ID, hold("h")); !errors.Is(err, gatelatch.ErrNotFound) {
				t.Errorf("another agent waits for it: %v", err)
			}
			<-time.After(5 * time.Second)
		}
		if !left() {
			t.Error("nobody waits")
		}
		kill = wait()
		if left() {
			t.Error("somebody is back")
		}
		kill()
		<-time.After(time.Minute)
		if err := w.decide(mira, b.Calls[0], gatelatch.Allowed); err != nil {
			t.Fatal(err)
		}
		if got, err := agent.Await(t.Context(), b.ID, hold("h")); err != nil || got.Calls[0].Consumed == nil {
			t.Errorf("who asks again: %v", err)
		}
		w.stop()
	})
}

// A hook that went on to a dialog, and an agent that was stopped before it.
func TestCallThatWasToBeWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, held: memory.New(memory.Options{}), grace: 10 * time.Second}
		w.start()
		p := message("m1", "ask")
		p.Hold = hold("h")
		b := w.propose(p)
		<-time.After(time.Minute)
		got, err := w.gate.As(agentA).Batch(t.Context(), b.ID)
		if err != nil || got.Left.IsZero() || got.Calls[0].State != gatelatch.Pending {
			t.Errorf("%+v, %v", got, err)
		}
		p.Hold = hold("h2") // its hook asks again
		w.propose(p)
		if got, err = w.gate.As(agentA).Batch(t.Context(), b.ID); err != nil || !got.Left.IsZero() {
			t.Errorf("%s, %v", got.Left, err)
		}
		w.stop()
	})
}

package gatelatch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
)

// SEC-74: what an agent has kept in a day is bounded, whatever rules make of it;
// one session leaves something to the others of its key, and invented ones do
// not help.
func TestNoAgentFillsTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(memory.Options{})
		defer func() { _ = store.Close() }()
		g := gatelatch.New(store, byTool{})
		g.Quota = gatelatch.Quota{Daily: 1 << 20, Together: 4}
		input, n := []byte(`"`+strings.Repeat("x", 63<<10)+`"`), 0
		send := func(who gatelatch.Actor, session string) error {
			n++
			_, err := g.As(who).Propose(t.Context(), gatelatch.Proposal{
				Session: gatelatch.SessionInfo{ID: session}, Message: fmt.Sprint("m", n),
				Calls: []gatelatch.ProposedCall{{Ref: fmt.Sprint("r", n), Tool: "deny", Input: input}},
			})
			if err != nil && !errors.Is(err, gatelatch.ErrInvalid) {
				t.Fatal(err)
			}
			return err
		}
		flood := func(who gatelatch.Actor, session func(int) string) (taken int) {
			for i := range 200 {
				if send(who, session(i)) == nil {
					taken++
				}
			}
			return taken
		}
		one := func(int) string { return "s" }
		if got := flood(noisy, one); got != 15 { // of 64 KiB and a little each
			t.Errorf("a session had %d taken", got)
		}
		if err := errors.Join(send(noisy, "other"), send(calm, "s")); err != nil {
			t.Errorf("others: %v", err)
		}
		if got := flood(noisy, func(i int) string { return fmt.Sprint("invented ", i) }); got != 4*15+3-16 {
			t.Errorf("invented sessions had %d taken", got)
		}
		<-time.After(12 * time.Hour)
		if got := flood(noisy, one); got < 7 || got > 8 {
			t.Errorf("after half a day %d were taken", got)
		}
	})
}

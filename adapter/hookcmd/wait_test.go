package hookcmd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Of a call that was denied for the host's limit only, the same call made again
// gets the decision, for the bytes that were shown.
func TestSameCallAgainGetsTheDecision(t *testing.T) {
	for name, tt := range map[string]struct {
		again string
		want  string
	}{
		"the same":      {bash("touch x && y", "toolu_2"), `"permissionDecision":"allow"`},
		"another input": {bash("touch x && z", "toolu_2"), `"permissionDecision":"deny"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, stop := newGate(t)
				defer stop()
				ctx, cancel := limited(t.Context())
				defer cancel()
				if _, err := claude(g, "h1", false).Answer(ctx, read(t, preBash)); !errors.Is(err, errLimit) {
					t.Fatal(err)
				}
				decide(t, g, gatelatch.Decision{State: gatelatch.Allowed})
				got := answers(t, claude(g, "h2", false), tt.again, func() {
					if strings.Contains(tt.want, "deny") {
						decide(t, g, gatelatch.Decision{State: gatelatch.Denied})
					}
				})
				if !strings.Contains(got, tt.want) {
					t.Errorf("made again: %s", got)
				}
			})
		})
	}
}

// In a terminal the dialog stays when the time to answer elsewhere is over.
func TestLimitLeavesTheDialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		defer stop()
		ctx, cancel := limited(t.Context())
		defer cancel()
		a, err := claude(g, "h1", true).Answer(ctx, read(t, permission(preBash)))
		if err != nil || strings.TrimSpace(string(a.Out)) != "{}" {
			t.Errorf("answered %s, %v", a.Out, err)
		}
		p, err := g.As(person).List(t.Context(), gatelatch.Query{Pending: true})
		if err != nil || len(p.Calls) != 0 {
			t.Errorf("%d calls wait, %v", len(p.Calls), err)
		}
	})
}

func deferring(g *gatelatch.Gate, holder string, after time.Duration) *Claude {
	c := claude(g, holder, false)
	c.Defer = after
	return c
}

const deferAnswer = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}`

// A headless agent ends for days and comes back with the same call; a second
// call of its session is told that it can't.
func TestDefer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		defer stop()
		begin := time.Now()
		if got := answers(t, deferring(g, "h1", 10*time.Minute), preBash, func() {}); got != deferAnswer || time.Since(begin) != 10*time.Minute {
			t.Fatalf("after %s: %s", time.Since(begin), got)
		}
		first := waiting(t, g)
		if _, err := deferring(g, "h2", 1).Answer(t.Context(), read(t, bash("touch other", "toolu_2"))); !errors.Is(err, errBusy) {
			t.Errorf("a second deferral: %v", err)
		}
		if got := answers(t, deferring(g, "h3", 1), preBash, func() {}); got != deferAnswer {
			t.Errorf("deferred twice: %s", got)
		}
		<-time.After(3 * 24 * time.Hour)
		if _, err := g.As(person).Decide(t.Context(), first.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: first.Digest}); err != nil {
			t.Fatal(err)
		}
		if got := answers(t, deferring(g, "h4", 1), preBash, func() {}); !strings.Contains(got, `"permissionDecision":"allow"`) {
			t.Errorf("resumed: %s", got)
		}
		// The second one waits on, and takes its decision when it is made again.
		decide(t, g, gatelatch.Decision{State: gatelatch.Denied, Note: "not that one"})
		if got := answers(t, deferring(g, "h5", 1), bash("touch other", "toolu_3"), func() {}); !strings.Contains(got, "not that one") {
			t.Errorf("made again: %s", got)
		}
	})
}

// In a terminal "defer" would be ignored, and a policy's answer needs none.
func TestDeferIsForHeadlessQuestionsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		defer stop()
		c := deferring(g, "h1", 1)
		if got := answers(t, c, bash("pwd", "toolu_2"), func() {}); !strings.Contains(got, `"allow"`) {
			t.Errorf("policy allows: %s", got)
		}
		c.Attended = true
		if got := answers(t, c, preBash, func() {}); !strings.Contains(got, `"ask"`) {
			t.Errorf("at the terminal: %s", got)
		}
	})
}

// raced decides between the end of the wait and the word that nobody waits.
type raced struct {
	gatelatch.Host
	decide func()
}

func (r raced) Park(ctx context.Context, id string, deferred bool) error {
	r.decide()
	return r.Host.Park(ctx, id, deferred)
}

func TestDecisionInTheLastMoment(t *testing.T) {
	for name, after := range map[string]time.Duration{"limit": 0, "defer": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, stop := newGate(t)
				defer stop()
				c := deferring(g, "h1", after)
				c.Service = raced{c.Service, func() { decide(t, g, gatelatch.Decision{State: gatelatch.Allowed}) }}
				ctx, cancel := limited(t.Context())
				defer cancel()
				a, err := c.Answer(ctx, read(t, preBash))
				if err != nil || !strings.Contains(string(a.Out), `"allow"`) {
					t.Errorf("%s, %v", a.Out, err)
				}
			})
		})
	}
}

package ask_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/adaptertest"
	"github.com/gatelatch/gatelatch/adapter/ask"
)

func touch(id string) ask.Question {
	return ask.Question{Session: gatelatch.SessionInfo{ID: "s1", Name: "test"}, ID: id, Tool: "Bash", Input: []byte(`{"command":"touch x"}`)}
}

type answered struct {
	ask.Answer
	err error
}

// begin asks, and returns where the answer will come.
func begin(ctx context.Context, r *adaptertest.Rig, d *ask.Desk, q ask.Question) <-chan answered {
	got := make(chan answered, 1)
	go func() {
		a, err := d.Ask(ctx, r.Agent, q, nil)
		got <- answered{a, err}
	}()
	synctest.Wait()
	return got
}

func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		act  func(r *adaptertest.Rig)
		want ask.Answer
	}{
		"allowed": {func(r *adaptertest.Rig) { r.Allow() }, ask.Answer{Allowed: true}},
		"denied":  {func(r *adaptertest.Rig) { r.Deny("no") }, ask.Answer{Text: "User denied the request: no"}},
		"ended": {func(r *adaptertest.Rig) {
			r.Decide(gatelatch.Decision{State: gatelatch.Denied, Interrupt: true})
		}, ask.Answer{Text: "User denied the request.", Interrupt: true}},
		"expired": {func(*adaptertest.Rig) { <-time.After(2 * time.Hour) },
			ask.Answer{Text: "Nobody decided in time, so the request was denied. It may be asked again.", Expired: true}},
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				q := touch("c1")
				q.Limit = time.Hour
				got := begin(t.Context(), r, new(ask.Desk), q)
				tt.act(r)
				a := <-got
				if a.err != nil || a.Allowed != tt.want.Allowed || a.Text != tt.want.Text || a.Interrupt != tt.want.Interrupt || a.Expired != tt.want.Expired {
					t.Errorf("got %+v", a)
				}
				if a.Allowed && string(a.Input) != `{"command":"touch x"}` {
					t.Errorf("runs %s", a.Input)
				}
			})
		})
	}
}

// REL-30: the connection is lost, the question stays, and the same call asked
// again, with another id and by another process, gets what was decided.
func TestAskingAgainPicksUpTheDecision(t *testing.T) {
	for name, decidedBefore := range map[string]bool{"decided while nobody waited": true, "decided later": false} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				ctx, lose := context.WithCancelCause(t.Context())
				got := begin(ctx, r, new(ask.Desk), touch("c1"))
				first := r.Waiting().ID
				lose(errors.New("lost"))
				if a := <-got; a.err == nil || a.Allowed {
					t.Fatalf("got %+v", a)
				}
				if r.Waiting().ID != first {
					t.Fatal("the question did not stay")
				}
				if decidedBefore {
					r.Allow()
				}
				got = begin(t.Context(), r, new(ask.Desk), touch("c2"))
				if !decidedBefore {
					r.Allow()
				}
				if a := <-got; a.err != nil || !a.Allowed {
					t.Errorf("got %+v", a)
				}
				// That allow is used: a third call is a new question.
				got = begin(t.Context(), r, new(ask.Desk), touch("c3"))
				if r.Waiting().ID == first {
					t.Error("an allow was used twice")
				}
				r.Deny("")
				<-got
			})
		})
	}
}

func TestCancelledQuestionIsWithdrawn(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		ctx, cancel := context.WithCancelCause(t.Context())
		got := begin(ctx, r, new(ask.Desk), touch("c1"))
		cancel(ask.ErrCancelled)
		if a := <-got; !errors.Is(a.err, ask.ErrCancelled) || a.Allowed {
			t.Errorf("got %+v", a)
		}
		if cs := r.Calls(false); len(cs) != 1 || cs[0].State != gatelatch.Withdrawn {
			t.Errorf("%+v", cs)
		}
	})
}

// Rule 6: two calls that are alike are two questions while both wait.
func TestTwinsAreTwoQuestions(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		desk := new(ask.Desk)
		a, b := begin(t.Context(), r, desk, touch("c1")), begin(t.Context(), r, desk, touch("c2"))
		cs := r.Calls(true)
		if len(cs) != 2 {
			t.Fatalf("%d questions", len(cs))
		}
		for i, state := range []gatelatch.State{gatelatch.Allowed, gatelatch.Denied} {
			if _, err := r.Person.Decide(t.Context(), cs[i].ID, gatelatch.Decision{State: state, Digest: cs[i].Digest}); err != nil {
				t.Fatal(err)
			}
		}
		if x, y := <-a, <-b; x.Allowed == y.Allowed {
			t.Errorf("one allow answered both or none: %+v, %+v", x, y)
		}
	})
}

// Two processes of one session can't know of each other. The one that asked
// last goes on; one allow never runs both.
func TestTwinsInTwoProcessesShareNoAllow(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := begin(t.Context(), r, new(ask.Desk), touch("c1"))
		b := begin(t.Context(), r, new(ask.Desk), touch("c2"))
		r.Allow()
		if x, y := <-a, <-b; x.Allowed || !y.Allowed {
			t.Errorf("the first %+v, the second %+v", x, y)
		}
	})
}

// A denial that was picked up is used, too.
func TestDenialIsPickedUpOnce(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		ctx, lose := context.WithCancelCause(t.Context())
		got := begin(ctx, r, new(ask.Desk), touch("c1"))
		lose(errors.New("lost"))
		<-got
		r.Deny("no")
		if a := <-begin(t.Context(), r, new(ask.Desk), touch("c2")); a.err != nil || a.Allowed || !strings.Contains(a.Text, "no") {
			t.Errorf("got %+v", a)
		}
		got = begin(t.Context(), r, new(ask.Desk), touch("c3"))
		r.Allow()
		if a := <-got; !a.Allowed {
			t.Errorf("got %+v", a)
		}
	})
}

// An answer that got lost may be asked for again, until the call has run: some
// agents count their calls, and begin at one again.
func TestCallThatRanIsNotAllowedAgain(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		got := begin(t.Context(), r, new(ask.Desk), touch("1"))
		r.Allow()
		if a := <-got; !a.Allowed {
			t.Fatalf("got %+v", a)
		}
		if a := <-begin(t.Context(), r, new(ask.Desk), touch("1")); !a.Allowed {
			t.Fatalf("asked for again: %+v", a)
		}
		if _, err := r.Agent.Ran(t.Context(), gatelatch.Report{Session: "s1", Ref: "1", OK: true}); err != nil {
			t.Fatal(err)
		}
		if a := <-begin(t.Context(), r, new(ask.Desk), touch("1")); a.Allowed || a.Text == "" {
			t.Errorf("after it ran: %+v", a)
		}
	})
}

// Rule 2, and SEC-27: what the protocol can't carry is not allowed.
func TestNeverAllowed(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		for name, q := range map[string]ask.Question{
			"no id":           touch(""),
			"not JSON":        {Session: touch("").Session, ID: "c", Tool: "Bash", Input: []byte("{")},
			"two of one name": {Session: touch("").Session, ID: "c", Tool: "Bash", Input: []byte(`{"command":"pwd","Command":"rm x"}`)},
			"no session":      {ID: "c", Tool: "Bash", Input: []byte(`{"command":"pwd"}`)},
		} {
			if a, err := new(ask.Desk).Ask(t.Context(), r.Agent, q, nil); !errors.Is(err, gatelatch.ErrInvalid) || a.Allowed {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		}
		q := touch("c1")
		q.Fixed = true
		got := begin(t.Context(), r, new(ask.Desk), q)
		r.Edit(`{"command":"touch y"}`)
		r.Allow()
		if a := <-got; a.err != nil || a.Allowed || !strings.Contains(a.Text, "touch y") {
			t.Errorf("an edited call: %+v", a)
		}
	})
}

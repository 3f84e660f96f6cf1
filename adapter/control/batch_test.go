package control

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch"
)

// D1, D2, D5: the first request waits until the message is whole, and then for
// all of its calls; each is answered when the agent gets to it.
func TestCallsOfAMessageAreOneBatch(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(streamStart, use("m1", 1, "Bash", bash("touch a")), asks(1, "Bash", bash("touch a")))
		if n := len(r.waiting()); n != 0 {
			t.Fatalf("%d calls were proposed before the message was whole", n)
		}
		r.hears(use("m1", 2, "Bash", bash("touch b")), use("m1", 3, "Nope", `{}`), use("m1", 4, "Bash", bash("pwd")), streamStop)
		if n := len(r.waiting()); n != 2 {
			t.Fatalf("%d calls wait", n)
		}
		r.decided("touch a", yes)
		r.wantOpen(1)
		r.decided("touch b", no)
		if a := r.answer(1); a.Behavior != behaviorAllow {
			t.Errorf("the first: %+v", a)
		}
		r.hears(result(1, false), asks(2, "Bash", bash("touch b")))
		if a := r.answer(2); a.Behavior != behaviorDeny || !strings.Contains(a.Message, "not this") {
			t.Errorf("the second: %+v", a)
		}
		r.hears(result(2, true), result(3, true), asks(4, "Bash", bash("pwd")))
		if a := r.answer(4); a.Behavior != behaviorAllow {
			t.Errorf("the last: %+v", a)
		}
		r.hears(result(4, false))
		ls := r.all()
		if len(ls) != 3 || ls[0].Batch.ID != ls[2].Batch.ID || ls[0].Batch.Finished.IsZero() {
			t.Errorf("%d calls, finished %v", len(ls), ls[0].Batch.Finished)
		}
		for _, l := range ls {
			if (l.Outcome != nil) != (l.State == gatelatch.Allowed) {
				t.Errorf("%s is %s with outcome %+v", l.Input, l.State, l.Outcome)
			}
		}
	})
}

// What is allowed later in a batch can still be taken back before the agent
// gets to it.
func TestPauseHoldsBackTheRestOfABatch(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(use("m1", 1, "Bash", bash("touch a")), use("m1", 2, "Bash", bash("touch b")), asks(1, "Bash", bash("touch a")))
		r.decided("touch a", yes)
		r.decided("touch b", yes)
		r.answer(1)
		if err := r.gate.As(person).Pause(r.t.Context(), "wait"); err != nil {
			t.Fatal(err)
		}
		r.hears(result(1, false), asks(2, "Bash", bash("touch b")))
		if a := r.answer(2); a.Behavior != behaviorDeny {
			t.Errorf("a call ran during a pause: %+v", a)
		}
	})
}

// A denial that interrupts ends every call of the message. The agent hides the
// words from the model, so they come with the next prompt (S3).
func TestInterruptEndsAllAndIsExplainedLater(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(use("m1", 1, "Bash", bash("touch a")), use("m1", 2, "Bash", bash("touch b")), asks(1, "Bash", bash("touch a")))
		r.decided("touch a", yes)
		r.decided("touch b", Result{Behavior: behaviorDeny, Message: "use make", Interrupt: true})
		if a := r.answer(1); a.Behavior != behaviorDeny || !a.Interrupt {
			t.Errorf("got %+v", a)
		}
		r.hears(result(1, true), result(2, true), turnOver)
		line, err := r.host0.Prompted("go on")
		if err != nil || !strings.Contains(string(line), "use make") || !strings.Contains(string(line), "go on") {
			t.Errorf("the next prompt is %s, %v", line, err)
		}
		if line, _ = r.host0.Prompted("more"); strings.Contains(string(line), "use make") {
			t.Error("the words were said twice")
		}
	})
}

// What was shown is what runs. A call that comes with another
// input, or in another folder, than was decided is asked again.
func TestRule5ChangedCallIsAskedAgain(t *testing.T) {
	for name, second := range map[string][]string{
		"input":  {asks(2, "Bash", bash("touch c"))},
		"folder": {hooked("PreToolUse", 2, "/p/sub"), asks(2, "Bash", bash("touch b"))},
		"tool":   {asks(2, "Shell", bash("touch b"))},
	} {
		t.Run(name, func(t *testing.T) {
			plays(t, Options{Gate: true}, func(r *rig) {
				r.hears(use("m1", 1, "Bash", bash("touch a")), use("m1", 2, "Bash", bash("touch b")), asks(1, "Bash", bash("touch a")))
				r.decided("touch a", yes)
				r.decided("touch b", yes)
				r.answer(1)
				r.hears(second...)
				r.wantOpen(2)
				if n := len(r.waiting()); n != 1 {
					t.Fatalf("%d calls wait", n)
				}
				r.decided("touch", no)
				if a := r.answer(2); a.Behavior != behaviorDeny {
					t.Errorf("got %+v", a)
				}
			})
		})
	}
}

// What is over, or too much for one proposal, is not gathered.
func TestWhatIsNotGathered(t *testing.T) {
	large := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", gatelatch.MaxInput/2))
	plays(t, Options{}, func(r *rig) {
		r.hears(use("m1", 1, "Bash", `{}`), result(1, true), use("m1", 2, "Bash", bash("touch a")), asks(2, "Bash", bash("touch a")))
		r.decided("touch a", yes)
		r.answer(2)
		r.hears(use("m2", 3, "mcp__s__t", large), use("m2", 4, "Bash", bash("touch b")), use("m2", 5, "New", `{"c":1}`), asks(3, "mcp__s__t", large))
		r.decided("xxx", yes)
		r.answer(3)
		r.hears(result(3, false), asks(4, "Bash", bash("touch b")))
		r.decided("touch b", no)
		r.answer(4)
		r.hears(result(4, true), asks(5, "New", `{"c":1}`)) // not among the tools that the agent told of
		r.decided(`"c"`, yes)
		r.answer(5)
	})
}

// An agent that stops asking takes its question back; others of the message go on.
func TestCancelWithdraws(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(asks(1, "Bash", bash("touch a")), `{"type":"control_cancel_request","request_id":"req_1"}`)
		if ls := r.all(); len(ls) != 1 || ls[0].State != gatelatch.Withdrawn {
			t.Errorf("the cancelled call is %s", ls[0].State)
		}
		r.wantOpen(1)
		r.hears(use("m2", 2, "Bash", bash("touch b")), use("m2", 3, "Bash", bash("touch c")), asks(2, "Bash", bash("touch b")))
		// Somebody answered the second call in another way, and it ran.
		r.hears(`{"type":"control_cancel_request","request_id":"req_2"}`, result(2, false))
		r.decided("touch c", yes)
		r.hears(asks(3, "Bash", bash("touch c")))
		if a := r.answer(3); a.Behavior != behaviorAllow {
			t.Errorf("the one after it: %+v", a)
		}
	})
}

// What is asked right behind the end of a turn belongs to the next.
func TestTheEndOfATurnTakesNothingOfTheNext(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		for n := range 50 {
			for _, line := range []string{turnOver, use(fmt.Sprint("m", n), n, "Bash", bash("pwd")), asks(n, "Bash", bash("pwd"))} {
				if _, err := r.host0.Receive([]byte(line)); err != nil {
					r.t.Fatal(err)
				}
			}
			synctest.Wait()
			if a := r.answer(n); a.Behavior != "allow" {
				r.t.Fatalf("call %d: %s, %s", n, a.Behavior, a.Message)
			}
		}
	})
}

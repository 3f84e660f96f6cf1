package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch"
)

const begun = `{"type":"system","subtype":"init","session_id":"s1","cwd":"/p","permissionMode":"default","tools":["Bash","Read","AskUserQuestion","ExitPlanMode"]}`

func use(message string, n int, tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"content":[{"type":"tool_use","id":"toolu_%d","name":%q,"input":%s}]}}`, message, n, tool, input)
}

func asks(n int, tool, input string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":"req_%d","request":{"subtype":"can_use_tool","tool_name":%q,"input":%s,"tool_use_id":"toolu_%d"}}`, n, tool, input, n)
}

func bash(command string) string { return fmt.Sprintf(`{"command":%q}`, command) }

func result(n int, failed bool) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_%d","is_error":%v}]}}`, n, failed)
}

func hooked(event string, n int, cwd string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":"hook_%s_%d","request":{"subtype":"hook_callback","callback_id":"gatelatch","input":{"session_id":"s1","cwd":%q,"hook_event_name":%q,"tool_name":"Bash","tool_use_id":"toolu_%d"}}}`, event, n, cwd, event, n)
}

const (
	streamStart = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}},"parent_tool_use_id":null}`
	streamStop  = `{"type":"stream_event","event":{"type":"message_stop"},"parent_tool_use_id":null}`
	turnOver    = `{"type":"result","subtype":"success"}`
)

// plays runs a test with an agent that begins a session.
func plays(t *testing.T, opt Options, play func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, opt)
		r.hear([]byte(begun))
		play(r)
		r.host0.Close()
		r.wantAllAnswered()
		r.stop()
	})
}

func (r *rig) hears(lines ...string) {
	r.t.Helper()
	for _, l := range lines {
		r.hear([]byte(l))
	}
}

// decided settles the only call that waits with this command in it.
func (r *rig) decided(part string, as Result) {
	r.t.Helper()
	for _, c := range r.waiting() {
		if strings.Contains(string(c.Input), part) {
			r.settle(c, as)
			return
		}
	}
	r.t.Fatalf("no call with %q waits", part)
}

// answer returns the answer to request n, which must be there.
func (r *rig) answer(n int) Result {
	r.t.Helper()
	a := r.answered(fmt.Sprintf("req_%d", n))
	if a == nil {
		r.t.Fatalf("req_%d was not answered", n)
	}
	return *a
}

func (r *rig) wantOpen(n int) {
	r.t.Helper()
	if a := r.answered(fmt.Sprintf("req_%d", n)); a != nil {
		r.t.Errorf("req_%d was answered with %+v", n, *a)
	}
}

var yes, no = Result{Behavior: behaviorAllow}, Result{Behavior: behaviorDeny, Message: "not this"}

func TestPolicyAnswersAtOnce(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(asks(1, "Bash", bash("pwd")), asks(2, "Bash", bash("rm x")))
		if a := r.answer(1); a.Behavior != behaviorAllow || string(a.UpdatedInput) != bash("pwd") {
			t.Errorf("pwd: %+v", a)
		}
		if a := r.answer(2); a.Behavior != behaviorDeny || !strings.Contains(a.Message, "deletes") {
			t.Errorf("rm: %+v", a)
		}
	})
}

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

// An allow is for one run of one call.
func TestRule6CallDoesNotRunTwice(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(asks(1, "Bash", bash("touch a")))
		r.decided("touch a", yes)
		r.answer(1)
		r.hears(result(1, false), strings.Replace(asks(1, "Bash", bash("touch a")), "req_1", "req_2", 1))
		if a := r.answer(2); a.Behavior != behaviorDeny {
			t.Errorf("the same call again: %+v", a)
		}
		r.hears(strings.Replace(asks(1, "Bash", bash("touch b")), "req_1", "req_3", 1))
		r.wantOpen(3) // another call under its id is another question
		r.decided("touch b", no)
	})
}

// REL-34: the same request twice is one question and one answer.
func TestSameRequestTwice(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(asks(1, "Bash", bash("touch a")), asks(1, "Bash", bash("touch a")))
		r.decided("touch a", yes)
		r.answer(1)
		if n := len(r.all()); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// P2: whatever can't be decided is answered at once, and
// never with an allow.
func TestRule2WhatIsNotUnderstoodIsRefused(t *testing.T) {
	for name, line := range map[string]string{
		"unknown subtype":  `{"type":"control_request","request_id":"req_1","request":{"subtype":"take_over"}}`,
		"no subtype":       `{"type":"control_request","request_id":"req_1","request":{}}`,
		"no request":       `{"type":"control_request","request_id":"req_1"}`,
		"no call id":       `{"type":"control_request","request_id":"req_1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}`,
		"no tool":          `{"type":"control_request","request_id":"req_1","request":{"subtype":"can_use_tool","tool_use_id":"t","input":{}}}`,
		"no input":         `{"type":"control_request","request_id":"req_1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t"}}`,
		"a field twice":    `{"type":"control_request","request_id":"req_1","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{"command":"pwd","command":"rm x"}}}`,
		"a callback":       `{"type":"control_request","request_id":"req_1","request":{"subtype":"hook_callback","input":7}}`,
		"an odd request":   `{"type":"control_request","request_id":"req_1","request":"can_use_tool"}`,
		"a wrong question": asks(1, "AskUserQuestion", `{"questions":[]}`),
	} {
		t.Run(name, func(t *testing.T) {
			plays(t, Options{}, func(r *rig) {
				_, _ = r.host0.Receive([]byte(line)) // an error or not, it is answered
				synctest.Wait()
				if a := r.answer(1); a.Behavior == behaviorAllow || a.Message == "" {
					t.Errorf("got %+v", a)
				}
				if len(r.waiting()) != 0 {
					t.Error("somebody was asked")
				}
			})
		})
	}
}

// Garbage on the wire has no effect.
func TestGarbageHasNoEffect(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(asks(1, "Bash", bash("touch a")))
		before := len(r.since(0))
		for _, line := range []string{"", "\x00\xff", "null", "[]", "7", `{}`, `{"type":`, `{"type":7}`, `{"type":"control_response"}`,
			`{"type":"control_response","response":{"request_id":"req_1","subtype":"success","response":{"behavior":"allow"}}}`,
			`{"type":"control_cancel_request","request_id":"nobody"}`, `{"type":"assistant","message":7}`, `{"type":"user","message":{"content":[7]}}`,
			`{"type":"assistant","message":{"id":"m9","content":[{"type":"tool_use"}]}}`, strings.Repeat(`{"a":`, 5000)} {
			_, _ = r.host0.Receive([]byte(line)) // what matters is what follows
			synctest.Wait()
		}
		if n := len(r.since(before)); n != 0 {
			t.Errorf("%d messages were sent", n)
		}
		r.wantOpen(1)
		r.decided("touch a", yes)
		r.answer(1)
	})
}

// failing is a gateway that is gone, or that answers about something else.
type failing struct {
	gatelatch.Service
	err   error
	batch *gatelatch.Batch
}

func (f failing) Propose(context.Context, gatelatch.Proposal) (*gatelatch.Batch, error) {
	if f.batch == nil && f.err == nil {
		panic("no gateway")
	}
	return f.batch, f.err
}

// REL-31: a gateway that is gone, fails or talks of something else is a denial.
func TestRule7FailuresDeny(t *testing.T) {
	held := &gatelatch.Opening{Holder: "hld_1", Phase: 1, Fence: 1, All: true}
	allowed := func(ref string, used *gatelatch.Use) []*gatelatch.Call {
		return []*gatelatch.Call{{ID: "c", Ref: ref, Phase: 1, Tool: "Bash", Kind: gatelatch.Permission, State: gatelatch.Allowed, Input: []byte(`{}`), Consumed: used}}
	}
	for name, svc := range map[string]failing{
		"gone":           {err: errors.New("cannot reach the gateway")},
		"paused":         {err: gatelatch.ErrPaused},
		"held elsewhere": {err: gatelatch.ErrOpened},
		"panics":         {},
		"another call":   {batch: &gatelatch.Batch{Phase: 1, Opened: held, Calls: allowed("toolu_9", &gatelatch.Use{})}},
		"not consumed":   {batch: &gatelatch.Batch{Phase: 1, Opened: held, Calls: allowed("toolu_1", nil)}},
		"no calls":       {batch: &gatelatch.Batch{Phase: 1, Opened: held}},
	} {
		t.Run(name, func(t *testing.T) {
			plays(t, Options{Service: svc}, func(r *rig) {
				r.hears(asks(1, "Bash", bash("touch a")))
				if a := r.answer(1); a.Behavior != behaviorDeny || a.Message == "" {
					t.Errorf("got %+v", a)
				}
			})
		})
	}
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

// A host that lost its memory, or the agent's, begins again: what waits is asked
// once, what does not is withdrawn.
func TestSecondInitialize(t *testing.T) {
	plays(t, Options{Gate: true}, func(r *rig) {
		again := func(pending string, version bool) error {
			before := len(r.since(0))
			got := make(chan error, 1)
			go func() { got <- r.host0.Initialize(r.t.Context()) }()
			synctest.Wait()
			name := r.since(before)[0].RequestID
			r.hears(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"hook_on_failure_supported":%v},"pending_permission_requests":[%s]}}`, name, version, pending))
			return <-got
		}
		if err := again("", false); err == nil {
			t.Error("an agent that fails open was accepted")
		}
		r.hears(asks(1, "Bash", bash("touch a")))
		if err := again(asks(1, "Bash", bash("touch a"))+","+asks(2, "Bash", bash("touch b")), true); err != nil || len(r.waiting()) != 2 {
			t.Fatalf("%d wait, %v", len(r.waiting()), err)
		}
		if err := again(asks(2, "Bash", bash("touch b")), true); err != nil || len(r.waiting()) != 1 {
			t.Fatalf("%d wait, %v", len(r.waiting()), err)
		}
		r.decided("touch b", yes)
		r.answer(2)
		r.wantOpen(1)
	})
}

// Before a call the hook always asks (V5). After it the agent goes on once the
// result is durable (D6), and hears what was changed (P5).
func TestHooksAskAndTell(t *testing.T) {
	plays(t, Options{Gate: true}, func(r *rig) {
		r.hears(use("m1", 1, "Bash", bash("touch a")), hooked("PreToolUse", 1, "/p"), asks(1, "Bash", bash("touch a")))
		if got := r.raw("hook_PreToolUse_1"); !strings.Contains(got, `"permissionDecision":"ask"`) {
			t.Errorf("before: %s", got)
		}
		r.decided("touch a", Result{Behavior: behaviorAllow, UpdatedInput: json.RawMessage(`{"command":"touch b","timeout":5}`)})
		if a := r.answer(1); string(a.UpdatedInput) != `{"command":"touch b","timeout":5}` {
			t.Errorf("allowed with %s", a.UpdatedInput)
		}
		r.hears(hooked("PostToolUse", 1, "/p"))
		if got := r.raw("hook_PostToolUse_1"); !strings.Contains(got, `command is now \"touch b\"`) || !strings.Contains(got, "timeout is now 5") {
			t.Errorf("after: %s", got)
		}
		if ls := r.all(); ls[0].Outcome == nil || ls[0].Outcome.Kind != gatelatch.Done {
			t.Errorf("the result is %+v", ls[0].Outcome)
		}
		r.hears(result(1, false), hooked("Stop", 1, "/p"))
		if got := r.raw("hook_Stop_1"); got != "{}" {
			t.Errorf("another event: %s", got)
		}
	})
}

// raw returns the answer to any request.
func (r *rig) raw(requestID string) string {
	r.t.Helper()
	for _, m := range r.since(0) {
		if m.Type == TypeResponse && m.Response.RequestID == requestID {
			return string(m.Response.Response)
		}
	}
	r.t.Fatalf("%s was not answered", requestID)
	return ""
}

// What ran without being asked about is noticed.
func TestRule18UnaskedRunIsNoticed(t *testing.T) {
	for gate, want := range map[bool]bool{true: true, false: false} {
		plays(t, Options{Gate: gate}, func(r *rig) {
			r.hears(use("m1", 1, "Bash", bash("ls")), result(1, false))
			if r.noticed(Unasked) != want {
				t.Errorf("gate %v: noticed %v", gate, !want)
			}
		})
	}
}

// P11: of the agent's suggestions, those are offered that policy would remember.
func TestSuggestionsAreOffered(t *testing.T) {
	suggested := func(rule string) string {
		return fmt.Sprintf(`,"permission_suggestions":[{"type":"addRules","behavior":"allow","rules":[{"toolName":"Bash","ruleContent":%q}]},{"type":"setMode","mode":"acceptEdits"}]`, rule)
	}
	for rule, want := range map[string]bool{"git commit -m:*": true, "git:*": false, "*": false, "bash:*": false, "git push:*": false} {
		plays(t, Options{}, func(r *rig) {
			r.hears(strings.Replace(asks(1, "Bash", bash("git commit -m x")), `,"tool_use_id"`, suggested(rule)+`,"tool_use_id"`, 1))
			p, err := r.gate.As(person).List(r.t.Context(), gatelatch.Query{Pending: true})
			if err != nil || len(p.Calls) != 1 {
				t.Fatal(err)
			}
			offered := false
			for _, o := range r.gate.As(person).Offers(p.Calls[0], gatelatch.ForSession) {
				offered = offered || o.Match == "Bash("+rule+")"
			}
			if offered != want {
				t.Errorf("%s: offered %v", rule, offered)
			}
		})
	}
}

// A sub-agent's call shows who started it.
func TestTrap15Lineage(t *testing.T) {
	plays(t, Options{}, func(r *rig) {
		r.hears(use("m1", 1, "Agent", `{}`),
			`{"type":"system","subtype":"task_started","task_id":"a1","tool_use_id":"toolu_1","subagent_type":"planner","description":"look"}`,
			`{"type":"assistant","agent_id":"a1","message":{"id":"m2","content":[{"type":"tool_use","id":"toolu_2","name":"Agent","input":{}}]}}`,
			`{"type":"system","subtype":"task_started","task_id":"a2","tool_use_id":"toolu_2","subagent_type":"worker","description":"do"}`,
			strings.Replace(asks(3, "Bash", bash("touch a")), `"subtype"`, `"agent_id":"a2","subtype"`, 1))
		if ls := r.all(); len(ls) != 1 || ls[0].Batch.Context.Via != "planner: look › worker: do" {
			t.Errorf("shown as %q", ls[0].Batch.Context.Via)
		}
		r.decided("touch a", yes)
	})
}

// S8: with "clear context and start" the agent gets no answer at all: another
// one begins with the plan.
func TestPlanAfresh(t *testing.T) {
	var plan Implement
	plays(t, Options{Implement: func(i Implement) { plan = i }}, func(r *rig) {
		r.hears(use("m1", 1, "ExitPlanMode", `{"plan":"do it"}`), asks(1, "ExitPlanMode", `{}`))
		c := r.waiting()[0]
		d := gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest, Choice: gatelatch.ClearContextAndStart, Mode: gatelatch.ModeAcceptEdits}
		if _, err := r.gate.As(person).Decide(r.t.Context(), c.ID, d); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.wantOpen(1)
	})
	if plan != (Implement{Plan: "do it", Mode: gatelatch.ModeAcceptEdits}) {
		t.Errorf("started with %+v", plan)
	}
}

// S7: what a person could not answer is not asked.
func TestQuestions(t *testing.T) {
	q := func(text, header string, labels ...string) string {
		var options []string
		for _, l := range labels {
			options = append(options, fmt.Sprintf(`{"label":%q}`, l))
		}
		return fmt.Sprintf(`{"question":%q,"header":%q,"options":[%s]}`, text, header, strings.Join(options, ","))
	}
	good := q("A?", "Header twelv", "x", "y")
	for input, ok := range map[string]bool{
		good: true, good + "," + q("B?", "", "x", "y", "z", "u") + "," + q("C?", "", "x", "y") + "," + q("D?", "", "x", "y"): true,
		good + "," + good: false, q("A?", "Header thirte", "x", "y"): false, q("A?", "h", "x"): false, q("", "h", "x", "y"): false,
		q("A?", "h", "x", "x"): false, q("A?", "h", "x", ""): false, q("A?", "h", "1", "2", "3", "4", "5"): false,
		strings.Join([]string{good, q("B", "", "x", "y"), q("C", "", "x", "y"), q("D", "", "x", "y"), q("E", "", "x", "y")}, ","): false,
	} {
		if why := badQuestions(json.RawMessage(`{"questions":[` + input + `]}`)); (why == "") != ok {
			t.Errorf("%s: %q", input, why)
		}
	}
}

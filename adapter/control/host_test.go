package control

import (
	"encoding/json"
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

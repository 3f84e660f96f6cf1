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
	gatelatch.Service // nil: nothing is reported about a call that was not proposed
	err               error
	batch             *gatelatch.Batch
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
				if svc.err != nil {
					r.hears(result(1, true))
				}
			})
		})
	}
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

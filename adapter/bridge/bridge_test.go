package bridge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/adaptertest"
	"github.com/gatelatch/gatelatch/adapter/ask"
	"github.com/gatelatch/gatelatch/adapter/bridge"
)

// The first lines are as Claude Code 2.1.325 sends them (recording of its
// control protocol), shortened by what nobody reads.
const (
	hello  = `{"type":"system","subtype":"init","session_id":"ac2f7689","cwd":"/home/dev/proj","permissionMode":"default","tools":["Bash"]}`
	canUse = `{"type":"control_request","request_id":"5db33fd4","request":{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash",` +
		`"input":{"command":"touch x && y","description":"Create x"},"description":"Create x","permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],` +
		`"blocked_path":"/home/dev/proj/x","tool_use_id":"toolu_1"}}`
	allowed = `{"type":"control_response","response":{"subtype":"success","request_id":"5db33fd4","response":{"behavior":"allow","updatedInput":{"command":"touch x && y","description":"Create x"}}}}`
)

func agent(r *adaptertest.Rig, d *ask.Desk) *adaptertest.Peer {
	return r.Connect((&bridge.Agent{Desk: d, Service: r.Agent, Explain: error.Error, Log: slog.New(slog.DiscardHandler)}).Serve)
}

func browser(r *adaptertest.Rig) *adaptertest.Peer {
	return r.Connect((&bridge.Browser{Seat: r.Person, Explain: error.Error, Log: slog.New(slog.DiscardHandler)}).Serve)
}

func wants(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// P1, P3–P5: from the agent to the page and back.
func TestRequestReachesThePageAndTheAnswerTheAgent(t *testing.T) {
	for name, tt := range map[string]struct{ response, answer, gone string }{
		"allowed": {`"behavior":"allow"`, allowed, `"behavior":"allow","by":"mira"`},
		"allowed with another input": {`"behavior":"allow","updated_input":{"command":"touch z"}`,
			`{"type":"control_response","response":{"subtype":"success","request_id":"5db33fd4","response":{"behavior":"allow","updatedInput":{"command":"touch z"}}}}`,
			`"behavior":"allow","by":"mira"`},
		"denied": {`"behavior":"deny"`,
			`{"type":"control_response","response":{"subtype":"success","request_id":"5db33fd4","response":{"behavior":"deny","message":"User denied the request."}}}`,
			`"behavior":"deny","by":"mira"`},
		"denied with words": {`"behavior":"deny","message":"not today"`,
			`{"type":"control_response","response":{"subtype":"success","request_id":"5db33fd4","response":{"behavior":"deny","message":"User denied the request: not today"}}}`,
			`"behavior":"deny","by":"mira"`},
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				a, b := agent(r, new(ask.Desk)), browser(r)
				a.Say(hello)
				a.Say(canUse)
				c := r.Waiting()
				wants(t, b.Hear(), fmt.Sprintf(`{"type":"permission_request","request":{"request_id":"%s","tool_name":"Bash","input":{"command":"touch x && y","description":"Create x"},"description":"Create x","tool_use_id":"toolu_1","timestamp":%d}}`,
					c.ID, c.Batch.Created.UnixMilli()))
				if c.Batch.Session != "ac2f7689" || c.Session.Project != "/home/dev/proj" {
					t.Errorf("session %+v", c.Session)
				}
				b.Say(fmt.Sprintf(`{"type":"permission_response","request_id":"%s",%s}`, c.ID, tt.response))
				wants(t, a.Hear(), tt.answer)
				wants(t, b.Hear(), fmt.Sprintf(`{"type":"permission_resolved","request_id":"%s",%s}`, c.ID, tt.gone))
				a.Quiet()
				b.Quiet()
				if err := errors.Join(a.Leave(), b.Leave()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// P2: an agent never hangs.
func TestUnknownRequestsGetAnErrorAtOnce(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r, new(ask.Desk))
		for _, raw := range []string{
			`{"type":"control_request","request_id":"r1","request":{"subtype":"fly_to_the_moon"}}`,
			`{"type":"control_request","request_id":"r2","request":{"subtype":"hook_callback","callback_id":"x"}}`,
			`{"type":"control_request","request_id":"r3","request":{}}`,
			`{"type":"control_request","request_id":"r4"}`,
			`{"type":"control_request","request_id":"r5","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}`,
			`{"type":"control_request","request_id":"r6","request":{"subtype":"can_use_tool","tool_use_id":"t","input":{}}}`,
		} {
			a.Say(raw)
			var got struct {
				Response struct {
					Subtype, Error string
					RequestID      string `json:"request_id"`
				}
			}
			if err := json.Unmarshal([]byte(a.Hear()), &got); err != nil || got.Response.Subtype != "error" || got.Response.Error == "" || !strings.Contains(raw, got.Response.RequestID) {
				t.Errorf("%s: %+v, %v", raw, got, err)
			}
		}
		if cs := append(r.Calls(true), r.Calls(false)...); len(cs) > 0 {
			t.Errorf("%d calls came of it", len(cs))
		}
	})
}

// P6, rule 1: what is unknown, settled or from before has no effect, and the
// page is told.
func TestResponsesWithoutEffect(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, b := agent(r, new(ask.Desk)), browser(r)
		a.Say(canUse)
		c := r.Waiting()
		b.Hear()
		for _, raw := range []string{
			`{"type":"permission_response","request_id":"cal_nobody","behavior":"allow"}`,
			`{"type":"permission_response","request_id":"","behavior":"allow"}`,
			`{"type":"permission_response","request_id":"toolu_1","behavior":"allow"}`,
			`{"type":"permission_response","request_id":"` + c.ID + `","behavior":"approve"}`,
			`{"type":"permission_response","request_id":"` + c.ID + `"}`,
			`{"type":"permission_response","request_id":"` + c.ID + `","behavior":"allow","updated_input":"rm x"}`,
			`{"type":"permission_response","request_id":"` + c.ID + `","behavior":"deny","updated_input":{}}`,
			`{"type":"approve_everything","request_id":"` + c.ID + `","behavior":"allow"}`,
		} {
			b.Say(raw)
			if got := b.Hear(); !strings.HasPrefix(got, `{"type":"permission_error"`) {
				t.Errorf("%s: %s", raw, got)
			}
			if r.Waiting().State != gatelatch.Pending {
				t.Fatalf("%s settled the call", raw)
			}
		}
		b.Say(`{"type":"permission_response","request_id":"` + c.ID + `","behavior":"deny"}`)
		b.Say(`{"type":"permission_response","request_id":"` + c.ID + `","behavior":"allow"}`)
		got := b.Hear() + b.Hear()
		if !strings.Contains(got, "permission_error") || !strings.Contains(got, `"behavior":"deny"`) {
			t.Errorf("the second response: %s", got)
		}
		if got := a.Hear(); !strings.Contains(got, `"behavior":"deny"`) {
			t.Errorf("the agent heard %s", got)
		}
	})
}

// A decision is about what was shown. One that crosses another person's edit
// names what it was about, and has no effect.
func TestResponseToWhatWasEditedMeanwhile(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, b := agent(r, new(ask.Desk)), browser(r)
		a.Say(canUse)
		c := r.Waiting()
		b.Hear()
		r.Edit(`{"command":"touch z"}`)
		synctest.Wait() // the page has read nothing of it when it answers
		b.Say(`{"type":"permission_response","request_id":"` + c.ID + `","behavior":"allow"}`)
		synctest.Wait()
		gone, again, failed := b.Hear(), b.Hear(), b.Hear()
		if !strings.Contains(gone, "permission_resolved") || !strings.Contains(gone, c.ID) || !strings.Contains(failed, "permission_error") {
			t.Errorf("the page heard %s %s", gone, failed)
		}
		if r.Waiting().State != gatelatch.Pending {
			t.Fatal("what was not shown is allowed")
		}
		var next struct{ Request bridge.Waiting }
		if err := json.Unmarshal([]byte(again), &next); err != nil || next.Request.RequestID == c.ID || string(next.Request.Input) != `{"command":"touch z"}` {
			t.Fatalf("shown again: %s, %v", again, err)
		}
		b.Say(`{"type":"permission_response","request_id":"` + next.Request.RequestID + `","behavior":"allow"}`)
		if got := a.Hear(); !strings.Contains(got, "touch z") {
			t.Errorf("the agent heard %s", got)
		}
		if got := b.Hear(); !strings.Contains(got, next.Request.RequestID) {
			t.Errorf("the page heard %s", got)
		}
	})
}

// Trap 12: an input that a rule refuses is not allowed by editing it in.
func TestEditedInputIsJudged(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, b := agent(r, new(ask.Desk)), browser(r)
		a.Say(canUse)
		c := r.Waiting()
		b.Hear()
		b.Say(`{"type":"permission_response","request_id":"` + c.ID + `","behavior":"allow","updated_input":{"command":"rm x"}}`)
		if got := b.Hear(); !strings.Contains(got, "permission_error") || !strings.Contains(got, "deletes") {
			t.Errorf("the page heard %s", got)
		}
		if got := r.Waiting(); got.Digest != c.Digest {
			t.Error("the call was changed")
		}
		a.Quiet()
	})
}

// P7, REL-30: an agent that lost its connection asks again and gets the answer;
// a page that comes back is shown what waits. Trap 4: leaving denies nothing.
func TestConnectionsAreLost(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		desk := new(ask.Desk)
		a, b := agent(r, desk), browser(r)
		a.Say(hello)
		a.Say(canUse)
		asked := b.Hear()
		if err := errors.Join(a.Leave(), b.Leave()); err != nil {
			t.Fatal(err)
		}
		c := r.Waiting()
		b = browser(r)
		wants(t, b.Hear(), asked)
		b.Say(`{"type":"permission_response","request_id":"` + c.ID + `","behavior":"allow"}`)
		b.Hear()
		a = agent(r, desk)
		a.Say(hello)
		a.Say(canUse)
		wants(t, a.Hear(), allowed)
	})
}

func TestCancelledRequestIsWithdrawn(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, b := agent(r, new(ask.Desk)), browser(r)
		a.Say(canUse)
		c := r.Waiting()
		b.Hear()
		a.Say(`{"type":"control_cancel_request","request_id":"other"}`)
		b.Quiet()
		a.Say(`{"type":"control_cancel_request","request_id":"5db33fd4"}`)
		if got := b.Hear(); !strings.Contains(got, "permission_resolved") || !strings.Contains(got, c.ID) {
			t.Errorf("the page heard %s", got)
		}
		a.Quiet()
	})
}

// What can't be read ends the connection: whose answer it wants is not known.
// So does a key that was revoked, before another word.
func TestConnectionsThatAreEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		raw    string
		revoke bool
	}{
		"not JSON":       {raw: "hello"},
		"two readings":   {raw: strings.Replace(canUse, `"command"`, `"command":"pwd","Command"`, 1)},
		"half a message": {raw: canUse[:100]},
		"a list":         {raw: "[]"},
		"a revoked key":  {raw: canUse, revoke: true},
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				for _, p := range []*adaptertest.Peer{agent(r, new(ask.Desk)), browser(r)} {
					p.Revoked = tt.revoke
					p.Say(tt.raw)
					if err := p.Ended(); err == nil {
						t.Error("the connection ended without a reason")
					}
				}
				if cs := append(r.Calls(true), r.Calls(false)...); len(cs) > 0 {
					t.Errorf("%d calls came of it", len(cs))
				}
			})
		})
	}
}

// P11: what the agent would have remembered is there to be offered to the person.
func TestSuggestionsReachThePerson(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r, new(ask.Desk))
		a.Say(hello)
		a.Say(strings.Replace(canUse, `"permission_suggestions":[`, `"permission_suggestions":[{"type":"addRules","behavior":"allow","rules":[{"toolName":"Bash","ruleContent":"touch x"}]},`, 1))
		if c := r.Waiting(); !slices.Equal(c.Suggests, []string{"Bash(touch x)"}) {
			t.Errorf("suggested are %q", c.Suggests)
		}
		if err := a.Leave(); err != nil {
			t.Error(err)
		}
	})
}

package sema_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/adaptertest"
	"github.com/gatelatch/gatelatch/adapter/ask"
	"github.com/gatelatch/gatelatch/adapter/sema"
)

const (
	// As the core sends it: the title of a Bash call is its command.
	bash     = `{"event":"tool:permission:request","data":{"agentId":"main","requestId":"q1","toolName":"Bash","title":"npm test","options":{"agree":"Yes","allow":"Always","refuse":"No"}}}`
	edit     = `{"event":"tool:permission:request","data":{"agentId":"main","requestId":"q1","toolName":"Edit","title":"a.txt","content":{"type":"diff","patch":"-a\n+b"}}}`
	question = `{"event":"ask:question:request","data":{"agentId":"main","requestId":"q1","questions":[{"question":"Which?","header":"DB","multiSelect":true,"options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}],"metadata":{"source":"setup"}}}`
	plan     = `{"event":"plan:exit:request","data":{"agentId":"main","requestId":"q1","planFilePath":"plan.md","planContent":"# Do it","options":{"startEditing":"s","clearContextAndStart":"c"}}}`
)

var quiet = slog.New(slog.DiscardHandler)

func agent(r *adaptertest.Rig) *adaptertest.Peer {
	return r.Connect((&sema.Agent{Desk: new(ask.Desk), Service: r.Agent, Explain: error.Error, Log: quiet}).Serve)
}

func ui(r *adaptertest.Rig) *adaptertest.Peer {
	return r.Connect((&sema.UI{Seat: r.Person, Explain: error.Error, Log: quiet}).Serve)
}

func wants(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// S3, S7–S10: each event reaches the user interface, and each answer the agent.
func TestEventsAndAnswers(t *testing.T) {
	const asked = `"agentId":"main","requestId":"CALL"`
	for name, tt := range map[string]struct{ event, shown, answer, heard string }{
		"once": {bash,
			`{"event":"tool:permission:request","data":{` + asked + `,"toolName":"Bash","title":"npm test","input":{"command":"npm test"},"options":{"agree":"Allow once","allow":"Allow and remember","refuse":"Deny and stop"}}}`,
			`{"method":"respondToToolPermission","data":{"requestId":"CALL","toolName":"Bash","selected":"agree"}}`,
			`{"method":"respondToToolPermission","data":{"agentId":"main","requestId":"q1","toolName":"Bash","selected":"agree"}}`},
		"refused": {bash, "", `{"method":"respondToToolPermission","data":{"requestId":"CALL","selected":"refuse"}}`,
			`{"method":"respondToToolPermission","data":{"agentId":"main","requestId":"q1","toolName":"Bash","selected":"refuse"}}`},
		"feedback": {bash, "", `{"method":"respondToToolPermission","data":{"requestId":"CALL","selected":"use pnpm"}}`,
			`{"method":"respondToToolPermission","data":{"agentId":"main","requestId":"q1","toolName":"Bash","selected":"The user did not allow this and answers: use pnpm"}}`},
		"the only one": {bash, "", `{"method":"respondToToolPermission","data":{"toolName":"Bash","selected":"agree"}}`,
			`{"method":"respondToToolPermission","data":{"agentId":"main","requestId":"q1","toolName":"Bash","selected":"agree"}}`},
		"an edit": {edit,
			`{"event":"tool:permission:request","data":{` + asked + `,"toolName":"Edit","title":"Edit","input":{"content":{"type":"diff","patch":"-a\n+b"},"title":"a.txt"},"options":{"agree":"Allow once","allow":"Allow and remember","refuse":"Deny and stop"}}}`,
			`{"method":"respondToToolPermission","data":{"requestId":"CALL","agentId":"main","selected":"agree"}}`,
			`{"method":"respondToToolPermission","data":{"agentId":"main","requestId":"q1","toolName":"Edit","selected":"agree"}}`},
		"a question": {question,
			`{"event":"ask:question:request","data":{` + asked + `,"questions":[{"question":"Which?","header":"DB","multiSelect":true,"options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}],"metadata":{"source":"setup"}}}`,
			`{"method":"respondToAskQuestion","data":{"agentId":"main","requestId":"CALL","answers":{"Which?":"A, B"}}}`,
			`{"method":"respondToAskQuestion","data":{"agentId":"main","requestId":"q1","answers":{"Which?":"A, B"}}}`},
		"a plan": {plan,
			`{"event":"plan:exit:request","data":{` + asked + `,"planFilePath":"plan.md","planContent":"# Do it","options":{"clearContextAndStart":"Start from the plan alone","startEditing":"Start, and keep the conversation"}}}`,
			`{"method":"respondToPlanExit","data":{"agentId":"main","requestId":"CALL","selected":"startEditing"}}`,
			`{"method":"respondToPlanExit","data":{"agentId":"main","requestId":"q1","selected":"startEditing"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				a, u := agent(r), ui(r)
				a.Say(tt.event)
				c := r.Waiting()
				if got := u.Hear(); tt.shown != "" {
					wants(t, got, strings.ReplaceAll(tt.shown, "CALL", c.ID))
				}
				u.Say(strings.ReplaceAll(tt.answer, "CALL", c.ID))
				wants(t, a.Hear(), tt.heard)
				if got := u.Hear(); !strings.HasPrefix(got, `{"event":"request:settled"`) {
					t.Errorf("the user interface heard %s", got)
				}
				if err := errors.Join(a.Leave(), u.Leave()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// S8: plan:implement goes to the user interface and expects no answer.
func TestPlanFromAnEmptyContext(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, u := agent(r), ui(r)
		a.Say(plan)
		u.Hear()
		u.Say(`{"method":"respondToPlanExit","data":{"agentId":"main","selected":"clearContextAndStart"}}`)
		wants(t, a.Hear(), `{"method":"respondToPlanExit","data":{"agentId":"main","requestId":"q1","selected":"clearContextAndStart"}}`)
		u.Hear()
		wants(t, u.Hear(), `{"event":"plan:implement","data":{"planFilePath":"plan.md","planContent":"# Do it"}}`)
	})
}

// S3: "allow" is remembered in the gateway, and the agent hears "agree": what
// it remembered by itself could not be revoked.
func TestAllowIsRememberedHere(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, u := agent(r), ui(r)
		a.Say(bash)
		u.Hear()
		u.Say(`{"method":"respondToToolPermission","data":{"toolName":"Bash","selected":"allow"}}`)
		if got := a.Hear(); !strings.Contains(got, `"selected":"agree"`) {
			t.Errorf("the agent heard %s", got)
		}
		a.Say(strings.Replace(bash, "q1", "q2", 1))
		if got := a.Hear(); !strings.Contains(got, `"requestId":"q2"`) || !strings.Contains(got, `"selected":"agree"`) {
			t.Errorf("the second time: %s", got)
		}
		if gs, err := r.Person.Grants(t.Context(), true, 10); err != nil || len(gs) != 1 {
			t.Errorf("%d grants, %v", len(gs), err)
		}
	})
}

// Rules 1, 3 and 4: an answer that could mean two requests, or is for another
// agent, kind or tool, means none.
func TestAnswersWithoutEffect(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, u := agent(r), ui(r)
		a.Say(bash)
		first := r.Waiting().ID
		a.Say(strings.NewReplacer("q1", "q2", "npm test", "npm start", `"main"`, `"sub"`).Replace(bash))
		u.Hear()
		u.Hear()
		for _, raw := range []string{
			`{"method":"respondToToolPermission","data":{"toolName":"Bash","selected":"agree"}}`,
			`{"method":"respondToToolPermission","data":{"requestId":"cal_x","selected":"agree"}}`,
			`{"method":"respondToToolPermission","data":{"requestId":"` + first + `","agentId":"sub","selected":"agree"}}`,
			`{"method":"respondToToolPermission","data":{"requestId":"` + first + `","toolName":"Edit","selected":"agree"}}`,
			`{"method":"respondToToolPermission","data":{"requestId":"` + first + `"}}`,
			`{"method":"respondToPlanExit","data":{"requestId":"` + first + `","selected":"startEditing"}}`,
			`{"method":"respondToAnything","data":{"requestId":"` + first + `","selected":"agree"}}`,
		} {
			u.Say(raw)
			if got := u.Hear(); !strings.HasPrefix(got, `{"event":"response:error"`) {
				t.Errorf("%s: %s", raw, got)
			}
		}
		a.Quiet()
		if n := len(r.Calls(true)); n != 2 {
			t.Errorf("%d calls wait", n)
		}
		u.Say(`{"method":"respondToToolPermission","data":{"agentId":"sub","toolName":"Bash","selected":"agree"}}`)
		if got := a.Hear(); !strings.Contains(got, `"agentId":"sub"`) {
			t.Errorf("the answer went to %s", got)
		}
	})
}

// An answer without an id that crosses the end of its request is not for the
// next one of that tool, which nobody has read. Said again, it is.
func TestAnswerWithoutAnIDCrosses(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, u := agent(r), ui(r)
		a.Say(bash)
		u.Hear()
		r.Deny("")
		a.Hear()
		a.Say(strings.NewReplacer("q1", "q2", "npm test", "npm publish").Replace(bash))
		r.Waiting()
		const agreed = `{"method":"respondToToolPermission","data":{"agentId":"main","toolName":"Bash","selected":"agree"}}`
		u.Say(agreed)
		if got := u.Hear() + u.Hear() + u.Hear(); !strings.Contains(got, "request:settled") || !strings.Contains(got, "npm publish") || !strings.Contains(got, "response:error") {
			t.Errorf("the interface heard %s", got)
		}
		a.Quiet()
		u.Say(agreed)
		if got := a.Hear(); !strings.Contains(got, `"requestId":"q2"`) || !strings.Contains(got, `"selected":"agree"`) {
			t.Errorf("the agent heard %s", got)
		}
	})
}

// Rule 3: without ids two requests of one tool can't be told apart by the agent.
func TestTwoRequestsOfOneName(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r)
		unnamed := strings.Replace(bash, `"requestId":"q1",`, "", 1)
		a.Say(unnamed)
		a.Say(strings.Replace(unnamed, "npm test", "npm start", 1))
		if got := a.Hear(); strings.Contains(got, agreeOrAllow(got)) {
			t.Errorf("the second request heard %s", got)
		}
		r.Allow()
		wants(t, a.Hear(), `{"method":"respondToToolPermission","data":{"agentId":"main","toolName":"Bash","selected":"agree"}}`)
	})
}

func agreeOrAllow(got string) string {
	for _, word := range []string{"agree", "allow"} {
		if s := fmt.Sprintf(`"selected":%q`, word); strings.Contains(got, s) {
			return s
		}
	}
	return "\x00"
}

func TestWhatAnAgentMayNotSay(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r)
		for raw, want := range map[string]string{
			`{"event":"plan:implement","data":{"agentId":"main"}}`:                                  "response:error",
			`{"event":"tool:permission:request","data":{"toolName":"Bash","title":"ls"}}`:           "could",
			`{"event":"tool:permission:request","data":{"agentId":"main","title":"ls"}}`:            "no tool",
			`{"method":"respondToToolPermission","data":{"requestId":"x","selected":"agree"}}`:      "response:error",
			`{"event":"ask:question:request","data":{"agentId":"main","requestId":"x"}}`:            "response:error",
			`{"event":"request:unheard","data":{"agentId":"main","requestId":"x","title":"agree"}}`: "response:error",
		} {
			a.Say(raw)
			got := a.Hear()
			if strings.Contains(got, agreeOrAllow(got)) || want != "could" && !strings.Contains(got, want) {
				t.Errorf("%s: %s", raw, got)
			}
		}
		if n := len(r.Calls(true)); n != 0 {
			t.Errorf("%d calls wait", n)
		}
	})
}

// SEC-27: an answer has no room for another input, so the agent is told to ask
// for that.
func TestEditedCallIsAskedAgain(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r)
		a.Say(bash)
		r.Edit(`{"command":"npm run lint"}`)
		r.Allow()
		if got := a.Hear(); strings.Contains(got, agreeOrAllow(got)) || !strings.Contains(got, "npm run lint") {
			t.Errorf("the agent heard %s", got)
		}
	})
}

// REL-30: lost and asked again; cancelled and gone.
func TestLostAndCancelled(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r)
		a.Say(bash)
		r.Waiting() // it is durable before the connection is lost
		if err := a.Leave(); err != nil {
			t.Fatal(err)
		}
		r.Allow()
		a = agent(r)
		a.Say(bash)
		if got := a.Hear(); !strings.Contains(got, `"selected":"agree"`) {
			t.Errorf("asked again: %s", got)
		}
		a.Say(strings.Replace(bash, "q1", "q2", 1))
		r.Waiting()
		a.Say(`{"event":"request:cancel","data":{"agentId":"main","requestId":"q2"}}`)
		if cs := r.Calls(true); len(cs) != 0 {
			t.Errorf("%d calls wait", len(cs))
		}
		if cs := r.Calls(false); cs[0].State != gatelatch.Withdrawn && cs[1].State != gatelatch.Withdrawn {
			t.Error("nothing was withdrawn")
		}
		a.Quiet()
	})
}

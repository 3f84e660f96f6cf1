package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/adaptertest"
	"github.com/gatelatch/gatelatch/adapter/ask"
)

const session = "ac2f7689" // of hello

// stops has a person interrupt the session.
func stops(r *adaptertest.Rig) {
	r.T.Helper()
	if _, err := r.Person.Interrupt(r.T.Context(), r.Who.ID, session, "wrong way"); err != nil {
		r.T.Fatal(err)
	}
}

// hearStop returns the id of the interrupt that comes next.
func hearStop(t *testing.T, a *adaptertest.Peer) string {
	t.Helper()
	var m struct {
		Type      string
		RequestID string `json:"request_id"`
		Request   struct{ Subtype string }
	}
	raw := a.Hear()
	if err := json.Unmarshal([]byte(raw), &m); err != nil || m.Type != "control_request" || m.Request.Subtype != "interrupt" || m.RequestID == "" {
		t.Fatalf("the agent heard %s", raw)
	}
	return m.RequestID
}

func obeys(a *adaptertest.Peer, id, subtype string) {
	a.Say(`{"type":"control_response","response":{"subtype":"` + subtype + `","request_id":"` + id + `"}}`)
}

// turn asks for a call, and says whether the answer ended the turn.
func turn(r *adaptertest.Rig, a *adaptertest.Peer, id string) (ended bool) {
	r.T.Helper()
	a.Say(strings.NewReplacer("5db33fd4", "r-"+id, "toolu_1", id, "touch x && y", "pwd").Replace(canUse))
	return strings.Contains(a.Hear(), `"interrupt":true`)
}

// A person stops an agent that asks for nothing at the moment: it is told once.
// While it has not confirmed, its next call ends the turn.
func TestInterruptReachesTheAgent(t *testing.T) {
	for name, tt := range map[string]struct {
		confirm string
		ended   bool
	}{
		"confirmed": {"success", false},
		"refused":   {"error", true},
		"ignored":   {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				a := agent(r, new(ask.Desk))
				a.Say(hello)
				if turn(r, a, "t1") {
					t.Error("it ended before anybody said so")
				}
				stops(r)
				id := hearStop(t, a)
				obeys(a, "req_other", "success") // of nobody
				a.Quiet()
				if tt.confirm != "" {
					obeys(a, id, tt.confirm)
					obeys(a, id, tt.confirm)
				}
				a.Quiet()
				if got := turn(r, a, "t2"); got != tt.ended {
					t.Errorf("the next call ended the turn: %v", got)
				}
				if turn(r, a, "t3") {
					t.Error("the call after it ended the turn")
				}
			})
		})
	}
}

// What waits is denied with the interrupt, and the agent is told as well.
func TestInterruptDeniesWhatWaits(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r, new(ask.Desk))
		a.Say(hello)
		a.Say(canUse)
		c := r.Waiting()
		stops(r)
		got := a.Hear() + a.Hear()
		if !strings.Contains(got, `"behavior":"deny"`) || !strings.Contains(got, `"interrupt":true`) || !strings.Contains(got, `"subtype":"interrupt"`) {
			t.Errorf("the agent heard %s", got)
		}
		if l, err := r.Person.Call(t.Context(), c.ID); err != nil || l.State != gatelatch.Denied {
			t.Errorf("it is %s, %v", l.State, err)
		}
	})
}

// An interrupt while the agent is away is told when it comes back, and then no
// more.
func TestInterruptWhileTheAgentIsAway(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		desk := new(ask.Desk)
		a := agent(r, desk)
		a.Say(hello)
		turn(r, a, "t1")
		if err := a.Leave(); err != nil {
			t.Fatal(err)
		}
		stops(r)
		a = agent(r, desk)
		a.Say(hello)
		obeys(a, hearStop(t, a), "success")
		a.Quiet()
		if err := a.Leave(); err != nil {
			t.Fatal(err)
		}
		a = agent(r, desk)
		a.Say(hello)
		a.Quiet()
		if turn(r, a, "t2") {
			t.Error("it was told twice")
		}
	})
}

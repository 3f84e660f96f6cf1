package openclaw_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/adapter/adaptertest"
	"github.com/gatelatch/gatelatch/adapter/ask"
	"github.com/gatelatch/gatelatch/adapter/openclaw"
)

const connect = `{"type":"req","id":"r0","method":"connect","params":{"minProtocol":4,"maxProtocol":4,"role":"operator","scopes":["operator.admin"]}}`

type desk struct {
	ask.Desk
	openclaw.Book
}

func agent(r *adaptertest.Rig, d *desk) *adaptertest.Peer {
	return met(r.Connect((&openclaw.Agent{Desk: &d.Desk, Book: &d.Book, Seat: r.Agent, Who: r.Who, Explain: error.Error}).Serve))
}

func operator(r *adaptertest.Rig) *adaptertest.Peer {
	return met(r.Connect((&openclaw.Operator{Seat: r.Person, Explain: error.Error}).Serve))
}

func met(p *adaptertest.Peer) *adaptertest.Peer {
	p.Hear()
	p.Say(connect)
	p.Hear()
	return p
}

type frame struct {
	Type, ID, Method, Event string
	OK                      bool
	Payload, Params         map[string]any
	Error                   struct{ Code, Message string }
}

func hear(t *testing.T, p *adaptertest.Peer) (f frame) {
	t.Helper()
	raw := p.Hear()
	if err := json.Unmarshal([]byte(raw), &f); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return f
}

func request(id, command, more string) string {
	return `{"type":"req","id":"q` + id + `","method":"exec.approval.request","params":{"id":"` + id + `","command":"` + command + `","cwd":"/p","sessionKey":"s1"` + more + `}}`
}

// O12: registered before it is answered; accepted, then the decision.
func TestTwoPhases(t *testing.T) {
	for decision, want := range map[string]string{"allow-once": "allow-once", "allow-always": "allow-once", "deny": "deny"} {
		t.Run(decision, func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
				a, o := agent(r, new(desk)), operator(r)
				a.Say(request("e1", "touch x", `,"twoPhase":true,"timeoutMs":60000`))
				f := hear(t, a)
				if !f.OK || f.ID != "qe1" || f.Payload["status"] != "accepted" || f.Payload["id"] != "e1" ||
					f.Payload["expiresAtMs"].(float64)-f.Payload["createdAtMs"].(float64) != 60000 {
					t.Errorf("%+v", f)
				}
				a.Quiet()
				c := r.Waiting()
				if f = hear(t, o); f.Event != "exec.approval.requested" || f.Payload["id"] != c.ID {
					t.Errorf("%+v", f)
				}
				o.Say(`{"type":"req","id":"r1","method":"exec.approval.resolve","params":{"id":"` + c.ID + `","decision":"` + decision + `"}}`)
				if f = hear(t, a); f.ID != "qe1" || f.Payload["id"] != "e1" || f.Payload["decision"] != want {
					t.Errorf("the agent heard %+v", f)
				}
				for range 2 {
					f = hear(t, o)
					if f.Type == "res" && (!f.OK || f.ID != "r1") || f.Type == "event" && (f.Event != "exec.approval.resolved" || f.Payload["decision"] != decision || f.Payload["resolvedBy"] != "mira") {
						t.Errorf("the operator heard %+v", f)
					}
				}
				if err := errors.Join(a.Leave(), o.Leave()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// One answer only, unless two were asked for; rules answer without anybody.
func TestOnePhase(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r, new(desk))
		for command, want := range map[string]string{"pwd": "allow-once", "rm x": "deny"} {
			a.Say(request(strings.Fields(command)[0], command, ""))
			if f := hear(t, a); f.Payload["decision"] != want {
				t.Errorf("%s: %+v", command, f)
			}
		}
		a.Say(request("e1", "touch x", ""))
		a.Quiet()
		r.Allow()
		if f := hear(t, a); f.Payload["decision"] != "allow-once" {
			t.Errorf("%+v", f)
		}
	})
}

// O10: expiry is null, not an error and not a refusal.
func TestExpiry(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, o := agent(r, new(desk)), operator(r)
		a.Say(request("e1", "touch x", `,"timeoutMs":60000`))
		hear(t, o)
		<-time.After(2 * time.Minute)
		f := hear(t, a)
		if d, there := f.Payload["decision"]; !f.OK || !there || d != nil {
			t.Errorf("the agent heard %+v", f)
		}
		if f = hear(t, o); f.Event != "exec.approval.resolved" || f.Payload["decision"] != nil {
			t.Errorf("the operator heard %+v", f)
		}
	})
}

// O11, traps 2 and 4: the connection is lost, the decision comes while nobody
// waits, and a late waiter reads it, as often as it likes.
func TestWaitDecision(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		d := new(desk)
		a := agent(r, d)
		a.Say(request("e1", "touch x", `,"twoPhase":true`))
		hear(t, a)
		if err := a.Leave(); err != nil {
			t.Fatal(err)
		}
		r.Allow()
		a = agent(r, d)
		for range 2 {
			a.Say(`{"type":"req","id":"w1","method":"exec.approval.waitDecision","params":{"id":"e1"}}`)
			if f := hear(t, a); !f.OK || f.ID != "w1" || f.Payload["id"] != "e1" || f.Payload["decision"] != "allow-once" {
				t.Errorf("%+v", f)
			}
		}
		for _, id := range []string{"e2", "bat_none", r.Calls(false)[0].ID} {
			a.Say(`{"type":"req","id":"w2","method":"exec.approval.waitDecision","params":{"id":"` + id + `"}}`)
			if f := hear(t, a); f.OK || f.Error.Message != "approval expired or not found" {
				t.Errorf("%s: %+v", id, f)
			}
		}
	})
}

// A gateway that started anew knows no names: the agent requests again, and
// finds what was decided.
func TestRequestedAgain(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r, new(desk))
		a.Say(request("e1", "touch x", ""))
		r.Allow()
		if f := hear(t, a); f.Payload["decision"] != "allow-once" {
			t.Fatalf("%+v", f)
		}
		a.Say(request("e2", "touch x", ""))
		r.Waiting()
		_ = a.Leave()
		r.Deny("no")
		a = agent(r, new(desk))
		a.Say(request("e3", "touch x", ""))
		if f := hear(t, a); f.Payload["decision"] != "deny" || !strings.Contains(f.Payload["reason"].(string), "no") {
			t.Errorf("%+v", f)
		}
	})
}

// O10, rules 1, 8 and 9: a second resolve is refused, and so is whatever is
// unknown; an agent decides nothing, whatever it claims to be.
func TestRefused(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a, o := agent(r, new(desk)), operator(r)
		a.Say(request("e1", "touch x", ""))
		c := r.Waiting()
		hear(t, o)
		resolve := func(id, decision string) string {
			return `{"type":"req","id":"r1","method":"exec.approval.resolve","params":{"id":"` + id + `","decision":"` + decision + `"}}`
		}
		for _, tt := range []struct {
			to        *adaptertest.Peer
			raw, want string
		}{
			{o, resolve(c.ID, "banana"), "invalid decision"},
			{o, resolve(c.ID, ""), "invalid decision"},
			{o, resolve("e1", "allow-once"), "unknown or expired approval id"},
			{o, request("e9", "pwd", ""), "unknown method"},
			{a, resolve(c.ID, "allow-once"), "unknown method"},
			{a, `{"type":"req","id":"r1","method":"exec.approval.list","params":{}}`, "unknown method"},
			{a, request("e2", "", ""), "params"},
			{a, request("e2", "pwd", `,"timeoutMs":0`), "params"},
		} {
			tt.to.Say(tt.raw)
			if f := hear(t, tt.to); f.OK || f.Error.Code != "INVALID_REQUEST" || !strings.Contains(f.Error.Message, tt.want) {
				t.Errorf("%s: %+v", tt.raw, f)
			}
		}
		two := agent(r, new(desk))
		two.Say(request("e2", "pwd", `,"Command":"rm x"`))
		if two.Ended() == nil {
			t.Error("what two programs read differently was taken")
		}
		o.Say(resolve(c.ID, "deny"))
		o.Say(resolve(c.ID, "allow-once"))
		refused := 0
		for range 3 {
			if f := hear(t, o); f.Type == "res" && !f.OK {
				refused++
			}
		}
		if f := hear(t, a); refused != 1 || f.Payload["decision"] != "deny" {
			t.Errorf("refused %d; the agent heard %+v", refused, f)
		}
	})
}

// SEC-27: the answer has no room for another command.
func TestEditedCommandIsDenied(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		a := agent(r, new(desk))
		a.Say(request("e1", "touch x", ""))
		r.Edit(`{"command":"touch y"}`)
		r.Allow()
		if f := hear(t, a); f.Payload["decision"] != "deny" || !strings.Contains(f.Payload["reason"].(string), "touch y") {
			t.Errorf("%+v", f)
		}
	})
}

func TestHandshakeComesFirst(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) {
		d := new(desk)
		for _, first := range []string{request("e1", "pwd", ""), `{"type":"event"}`, "nonsense"} {
			p := r.Connect((&openclaw.Agent{Desk: &d.Desk, Book: &d.Book, Seat: r.Agent, Who: r.Who, Explain: error.Error}).Serve)
			p.Hear()
			p.Say(first)
			if p.Ended() == nil {
				t.Errorf("%s was taken", first)
			}
		}
		if n := len(r.Calls(false)); n != 0 {
			t.Errorf("%d calls came of it", n)
		}
	})
}

// An operator of OpenClaw 2026.9.6, as recorded, with our gateway in its place.
func TestRecordedOperators(t *testing.T) {
	files, err := filepath.Glob("testdata/operator-*.jsonl")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			adaptertest.Run(t, func(t *testing.T, r *adaptertest.Rig) { replay(t, r, file) })
		})
	}
}

func replay(t *testing.T, r *adaptertest.Rig, file string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := r.Connect((&openclaw.Operator{Seat: r.Person, Explain: error.Error}).Serve)
	a, ids := agent(r, new(desk)), map[string]string{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var line struct {
			From string
			Msg  json.RawMessage
		}
		var m frame
		if err := errors.Join(json.Unmarshal(sc.Bytes(), &line), json.Unmarshal(line.Msg, &m)); err != nil {
			t.Fatal(err)
		}
		switch {
		case line.From == "client":
			raw := string(line.Msg)
			if id, _ := m.Params["id"].(string); id != "" {
				raw = strings.ReplaceAll(raw, id, ids[id])
			}
			o.Say(raw)
			if m.Method != "exec.approval.resolve" {
				if got := o.Hear(); !strings.Contains(got, `"ok":true`) {
					t.Errorf("%s: %s", m.Method, got)
				}
			}
		case m.Event == "exec.approval.requested":
			q := m.Payload["request"].(map[string]any)
			id := m.Payload["id"].(string)
			params, err := json.Marshal(map[string]any{"id": id, "command": q["command"], "cwd": q["cwd"], "host": q["host"], "sessionKey": q["sessionKey"], "agentId": q["agentId"]})
			if err != nil {
				t.Fatal(err)
			}
			a.Say(`{"type":"req","id":"` + id + `","method":"exec.approval.request","params":` + string(params) + `}`)
			got := hear(t, o)
			ids[id] = got.Payload["id"].(string)
			ours := got.Payload["request"].(map[string]any)
			for _, field := range []string{"command", "cwd", "sessionKey"} {
				if ours[field] != q[field] {
					t.Errorf("%s is %v, was %v", field, ours[field], q[field])
				}
			}
			age := func(p map[string]any) float64 { return p["expiresAtMs"].(float64) - p["createdAtMs"].(float64) }
			if got.Payload["approvalKind"] != m.Payload["approvalKind"] || age(got.Payload) != age(m.Payload) {
				t.Errorf("%+v", got.Payload)
			}
		case m.Event == "exec.approval.resolved":
			if got := hear(t, a); got.ID != m.Payload["id"] || got.Payload["decision"] != m.Payload["decision"] {
				t.Errorf("the agent heard %+v", got)
			}
			for range 2 { // the event and the answer to the resolve
				if got := hear(t, o); got.Type == "event" && (got.Event != m.Event || got.Payload["id"] != ids[m.Payload["id"].(string)] || got.Payload["decision"] != m.Payload["decision"]) {
					t.Errorf("%+v", got)
				}
			}
		case m.Type == "res":
			if got := hear(t, o); got.OK || got.Error != m.Error {
				t.Errorf("%+v, want %+v", got, m)
			}
		case m.Event == "connect.challenge":
			if got := hear(t, o); got.Event != m.Event || got.Payload["nonce"] == "" {
				t.Errorf("%+v", got)
			}
		}
	}
}

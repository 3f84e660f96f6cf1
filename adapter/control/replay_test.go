package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch"
)

// step is one line of a recording of the real agent with a host.
type step struct {
	From string          `json:"from"` // agent, host or note
	Msg  json.RawMessage `json:"msg"`
	End  bool            `json:"end"`
}

// answersIn finds what was answered to which call.
func answersIn(t *testing.T, steps []step) map[string]Result {
	t.Helper()
	calls, out := map[string]string{}, map[string]Result{}
	for _, s := range steps {
		var m Message
		if s.Msg == nil || json.Unmarshal(s.Msg, &m) != nil {
			continue
		}
		if q, err := m.CanUseTool(); m.Type == TypeRequest && err == nil && s.From == "agent" {
			calls[m.RequestID] = q.ToolUseID
		}
		if m.Type == TypeResponse && s.From == "host" && m.Response != nil {
			ref := calls[m.Response.RequestID]
			var r Result
			if _, known := out[ref]; ref != "" && !known && json.Unmarshal(m.Response.Response, &r) == nil {
				out[ref] = r
			}
		}
	}
	return out
}

func recording(t *testing.T, file string) (steps []step) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var s step
		if err := json.Unmarshal(sc.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	return steps
}

// replay plays the agent's part of a recording to a host. Where the recorded
// host answered, a person decides the same.
type replay struct {
	*rig
	ours map[string]string // our name for a request that the recorded host made
	want map[string]Result // what the recorded host answered, by call
}

// What the recorded host did that ours never does, on purpose.
var otherwise = map[string]string{
	"deny-no-message":                       "a denial always has a text (P4)",
	"garbage-response":                      "an answer is always one of ours",
	"error-response":                        "a denial says so, and is no error",
	"askuserquestion-allow-no-updatedInput": "questions are answered (S7)",
	"askuserquestion-allow-without-answers": "questions are answered (S7)",
}

// TestRecordings replays every recording of the control protocol. In each, the
// agent hears of no allow that nobody decided, and every request is answered
// once or taken back.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				steps := recording(t, file)
				r := &replay{rig: newRig(t, Options{}), ours: map[string]string{}, want: answersIn(t, steps)}
				for _, s := range steps {
					switch {
					case s.From == "agent" && s.End:
					case s.From == "agent":
						r.agent(s.Msg)
					case s.From == "host" && s.Msg != nil:
						r.host(name, s.Msg)
					}
					synctest.Wait()
				}
				r.host0.Close()
				r.wantAllAnswered()
				r.stop()
			})
		})
	}
}

// agent plays a line of the agent. What the host asked for has another name now.
func (r *replay) agent(line json.RawMessage) {
	r.t.Helper()
	for old, ours := range r.ours {
		line = bytes.ReplaceAll(line, []byte(`"request_id": "`+old+`"`), []byte(`"request_id":"`+ours+`"`))
		line = bytes.ReplaceAll(line, []byte(`"request_id":"`+old+`"`), []byte(`"request_id":"`+ours+`"`))
	}
	r.hear(line)
}

func (r *replay) host(name string, line json.RawMessage) {
	r.t.Helper()
	var m struct {
		Type      string                         `json:"type"`
		RequestID string                         `json:"request_id"`
		Request   struct{ Subtype, Mode string } `json:"request"`
		Response  struct {
			Subtype   string          `json:"subtype"`
			RequestID string          `json:"request_id"`
			Response  json.RawMessage `json:"response"`
		} `json:"response"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		r.t.Fatal(err)
	}
	switch {
	case m.Type == TypeRequest:
		r.demand(m.RequestID, m.Request.Subtype, m.Request.Mode)
	case m.Type == TypeResponse && otherwise[name] == "":
		r.decide(m.Response.RequestID, m.Response.Response)
	}
}

func (r *replay) demand(id, subtype, mode string) {
	r.t.Helper()
	before := len(r.sent)
	go func() {
		// How it is answered is in the recording, too.
		switch subtype {
		case SubInitialize:
			_ = r.host0.Initialize(context.Background())
		case SubInterrupt:
			_ = r.host0.Interrupt(context.Background())
		case SubSetMode:
			_ = r.host0.SetMode(context.Background(), gatelatch.Mode(mode))
		}
	}()
	synctest.Wait()
	if sent := r.since(before); len(sent) == 1 {
		r.ours[id] = sent[0].RequestID
	}
}

// decide gives the recorded answer in the page, and checks that the agent gets
// it in the recorded form.
func (r *replay) decide(requestID string, recorded json.RawMessage) {
	r.t.Helper()
	q, known := r.requests[requestID]
	if !known || q.Subtype != SubCanUseTool || r.answered(requestID) != nil {
		return // callbacks are answered by themselves; the first answer counts
	}
	var want Result
	if err := json.Unmarshal(recorded, &want); err != nil {
		r.t.Fatal(err)
	}
	for _, c := range r.waiting() {
		r.settle(c, r.want[c.Ref])
	}
	synctest.Wait()
	got := r.answered(requestID)
	if got == nil {
		r.t.Fatalf("%s was not answered", requestID)
	}
	if got.Behavior != want.Behavior || got.Interrupt != want.Interrupt || !strings.Contains(got.Message, want.Message) {
		r.t.Errorf("answered %+v, recorded %+v", got, want)
	}
	if want.Behavior != "allow" {
		return
	}
	input := want.UpdatedInput
	if input == nil {
		input = q.Input
	}
	if !sameJSON(joinLists(got.UpdatedInput), joinLists(input)) {
		r.t.Errorf("allowed with %s, recorded %s", got.UpdatedInput, input)
	}
	if slices.ContainsFunc(want.UpdatedPermissions, func(p Permission) bool { return p.Type == "setMode" }) != (len(got.UpdatedPermissions) > 0) {
		r.t.Errorf("permissions %+v, recorded %+v", got.UpdatedPermissions, want.UpdatedPermissions)
	}
}

// joinLists writes several answers the way S7 has them.
func joinLists(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.NewReplacer(`["Auth", "Logs"]`, `"Auth, Logs"`, `["Auth","Logs"]`, `"Auth, Logs"`).Replace(string(raw)))
}

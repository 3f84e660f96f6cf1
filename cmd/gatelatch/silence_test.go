package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/memory"
)

// SEC-33: a session that runs calls without its hooks is noticed.
func TestSilence(t *testing.T) {
	store := memory.New(memory.Options{})
	t.Cleanup(func() { _ = store.Close() })
	gate := gatelatch.New(store, policy.Default())
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "s.jsonl")
	write := func(format string, args ...any) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := fmt.Fprintf(f, format, args...); err != nil {
			t.Fatal(err)
		}
	}
	result := func(ref string, at time.Time, failed bool) {
		write(`{"type":"user","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"is_error":%t}]}}`+"\n", at.Format(time.RFC3339Nano), ref, failed)
	}
	now := time.Now()
	result("before", now.Add(-time.Hour), false) // of the session that this one goes on with
	agent := gate.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"})
	_, err = agent.Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Project: "/p", Host: host, Transcript: file}, Message: "known",
		Calls: []gatelatch.ProposedCall{{Ref: "known", Tool: "Bash", Input: []byte(`{"command":"ls"}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &silence{store: store, note: gate.NoteUnseen}
	problem := func() string {
		t.Helper()
		if err := s.check(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.Problem()
	}
	later := now.Add(time.Hour)
	write("no JSON\n{}\n[]\n")
	result("known", later, false)
	result("refused", later, true)
	if p := problem(); p != "" {
		t.Errorf("all was asked about: %s", p)
	}
	write(`{"type":"user"`) // half a line
	if p := problem(); p != "" {
		t.Error(p)
	}
	write("}\n")
	result("unasked", later, false)
	if p := problem(); !strings.Contains(p, "session s of /p") {
		t.Errorf("got %q", p)
	}
	// It stays for people to see, and is noted once.
	if p := problem(); p == "" {
		t.Error("it is forgotten at once")
	}
	events, err := gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "p"}).Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	noted := 0
	for _, e := range events {
		if e.Kind == gatelatch.CallUnseen {
			noted++
		}
	}
	if noted != 1 {
		t.Errorf("noted %d times", noted)
	}
}

// silentGate is a gate whose sessions have their transcripts on this host, in dir.
func silentGate(t *testing.T) (store *memory.Store, gate *gatelatch.Gate, host, dir string) {
	t.Helper()
	store = memory.New(memory.Options{})
	t.Cleanup(func() { _ = store.Close() })
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return store, gatelatch.New(store, policy.Default()), host, t.TempDir()
}

// A sub-agent's calls are in a transcript of its own, beside that of its session.
func TestSilenceOfASubagent(t *testing.T) {
	store, gate, host, dir := silentGate(t)
	if err := os.MkdirAll(filepath.Join(dir, "s", "subagents", "deeper.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := gate.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}).Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Project: "/p", Host: host, Transcript: filepath.Join(dir, "s.jsonl")}, Message: "m",
		Calls: []gatelatch.ProposedCall{{Ref: "asked", Tool: "Bash", Input: []byte(`{"command":"ls"}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &silence{store: store, note: gate.NoteUnseen}
	for _, tt := range []struct {
		name, ref string
		told      bool
	}{{"agent-a.jsonl", "asked", false}, {"agent-a.meta.json", "unasked", false}, {"agent-b.jsonl", "unasked", true}} {
		line := fmt.Sprintf(`{"type":"user","isSidechain":true,"timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":%q}]}}`+"\n", time.Now().Add(time.Hour).Format(time.RFC3339Nano), tt.ref)
		if err := os.WriteFile(filepath.Join(dir, "s", "subagents", tt.name), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.check(t.Context()); err != nil || (s.Problem() != "") != tt.told {
			t.Errorf("after %s: %q, %v", tt.name, s.Problem(), err)
		}
	}
}

func TestTranscriptIsAPlainFile(t *testing.T) {
	if ran, next, _ := appended(t.TempDir(), 0, time.Time{}); ran != nil || next != 0 {
		t.Errorf("a folder: %v, %d", ran, next)
	}
	if ran, next, _ := appended("/dev/zero", 0, time.Time{}); ran != nil || next != 0 {
		t.Errorf("a device: %v, %d", ran, next)
	}
}

// A transcript is an agent's to name and to write: many that grow without end
// cost no more than a bound, and hide no other for long.
func TestSilenceHasABound(t *testing.T) {
	store, gate, host, dir := silentGate(t)
	result := fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":"unasked"}]}}`+"\n", time.Now().Add(time.Hour).Format(time.RFC3339Nano))
	small, big := filepath.Join(dir, "small"), filepath.Join(dir, "big")
	if err := os.WriteFile(small, []byte(result), 0o600); err != nil {
		t.Fatal(err)
	}
	propose := func(session, file string) {
		t.Helper()
		_, err := gate.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}).Propose(t.Context(), gatelatch.Proposal{
			Session: gatelatch.SessionInfo{ID: session, Project: "/p", Host: host, Transcript: file}, Message: session,
			Calls: []gatelatch.ProposedCall{{Ref: "r", Tool: "Bash", Input: []byte(`{"command":"ls"}`)}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	propose("quiet", small)
	const many = 3 * mostRead / mostAppended
	for i := range many {
		propose(fmt.Sprint("loud", i), big)
	}
	s := &silence{store: store, note: gate.NoteUnseen}
	for round := range 4 {
		f, err := os.OpenFile(big, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(int64(round+1)*mostAppended), f.Close()); err != nil { // a line without an end
			t.Fatal(err)
		}
		if err := s.check(t.Context()); err != nil {
			t.Fatal(err)
		}
		looked := 0
		for at, n := range s.read {
			if at.file == big && n == int64(round+1)*mostAppended {
				looked++
			}
		}
		if looked > mostRead/mostAppended {
			t.Errorf("round %d: read %d transcripts", round, looked)
		}
	}
	if s.Problem() == "" {
		if err := s.check(t.Context()); err != nil || s.Problem() == "" {
			t.Errorf("the others hid the quiet one: %v", err)
		}
	}
}

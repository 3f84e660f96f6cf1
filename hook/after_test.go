//go:build unix

package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
)

func ended(kind gatelatch.OutcomeKind, result []byte) *gatelatch.Call {
	c := *proposed
	c.Outcome = &gatelatch.Outcome{Kind: kind, Result: result}
	return &c
}

// O7: a script is told how the call went.
func TestAfterScriptGetsTheOutcome(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]*gatelatch.Call{
		`"outcome":"done","result":"a <b>` + "\uFFFD" + `"}`: ended(gatelatch.Done, []byte("a <b>\xff")),
		`"outcome":"failed","result":"no"}`:                  ended(gatelatch.Failed, []byte("no")),
		`"mode":"default"},"outcome":"done"}`:                ended(gatelatch.Done, nil),
	} {
		out := filepath.Join(t.TempDir(), "out")
		if err := script(t, "cat > "+out+"; echo this does not count").After(t.Context(), c, within); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(got), `{"event":"after","tool":"Bash","input":{"command":"ls <x>","n":1.50},`) || !strings.HasSuffix(string(got), want+"\n") {
			t.Errorf("got %s, want %s at its end", got, want)
		}
	}
}

// What a script wrote may quote the call, and does not get into the log.
func TestAfterScriptThatFails(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"cat >&2; exit 1": "exit status 1", "cat >&2; exit 2": "exit status 2", "kill -9 $$": "signal: killed", "exec yes": "it printed more than 1048576 bytes",
	} {
		err := script(t, body).After(t.Context(), ended(gatelatch.Done, []byte("secret")), within)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v", body, err)
		}
	}
	if err := (Script{Path: "relative"}).After(t.Context(), proposed, within); err == nil {
		t.Error("a relative path runs")
	}
}

// The example in docs/hooks.md does what is said about it.
func TestTheDocumentedExample(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```python\n")
	body, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/hooks.md has no example")
	}
	s := program(t, body)
	log := filepath.Join(filepath.Dir(s.Path), "calls.log")
	for input, want := range map[string]gatelatch.HookResult{
		`{"command":"git push --force"}`:           {Block: true, Reason: "nobody force-pushes"},
		`{"command":"npm install left-pad","n":1}`: {Input: []byte(`{"command":"npm install left-pad --ignore-scripts","n":1}`)},
		`{"command":"ls"}`:                         {},
		`{"file_path":"/x"}`:                       {},
	} {
		got, err := s.Before(t.Context(), &gatelatch.Call{Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(input)}, within)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", input, diff)
		}
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("a call that has not run is in the log")
	}
	if err := s.After(t.Context(), ended(gatelatch.Failed, []byte("no")), within); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(log); err != nil || string(got) != "Bash failed\n" {
		t.Errorf("the log has %q, %v", got, err)
	}
}

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// P11: an edit is shown again and needs its own allow.
func TestEditThenAllow(t *testing.T) {
	opt := testGateway(t)
	file := filepath.Join(t.TempDir(), "input.json")
	writeFile(t, file, `{"command": "git push --dry-run && true", "n": 10000000000000000001}`)
	id := ask(t, opt, "m1", "git push").Calls[0].ID
	before := show(t, opt, id)
	out := mustRun(t, opt, "edit", shortID(id), file)
	after := show(t, opt, id)
	if after.State != "pending" || after.Digest == before.Digest || after.Edited == nil || string(after.Input) != `{"command":"git push --dry-run && true","n":10000000000000000001}` {
		t.Fatalf("%+v", after)
	}
	for _, want := range []string{after.Digest, "git push --dry-run", "edited   by ", "it still waits: gatelatch allow " + shortID(id)} {
		if !strings.Contains(out, want) {
			t.Errorf("edit does not print %q: %s", want, out)
		}
	}
	if _, err := command(t, opt, "allow", id, "--digest", before.Digest); !errors.Is(err, gatelatch.ErrChanged) {
		t.Errorf("allowed what was shown before the edit: %v", err)
	}
	mustRun(t, opt, "allow", id)
	if c := show(t, opt, id); c.State != "allowed" || !bytes.Equal(c.Input, after.Input) {
		t.Errorf("%+v", c)
	}
	if _, err := command(t, opt, "edit", id, file); !errors.Is(err, gatelatch.ErrSettled) {
		t.Errorf("edited what was decided: %v", err)
	}
}

func TestAllowWithAnotherInput(t *testing.T) {
	opt := testGateway(t)
	file := filepath.Join(t.TempDir(), "input.json")
	writeFile(t, file, `{"command":"git push --dry-run"}`)
	id := ask(t, opt, "m1", "git push").Calls[0].ID
	out := mustRun(t, opt, "allow", id, "--input", file, "--for", "session")
	if !strings.Contains(out, "git push --dry-run") || !strings.Contains(out, "remembers Bash(git push --dry-run) for this session") {
		t.Errorf("allow --input: %s", out)
	}
	if c := show(t, opt, id); c.State != "allowed" || string(c.Input) != `{"command":"git push --dry-run"}` || !strings.Contains(out, c.Digest) {
		t.Errorf("%+v", c)
	}
}

func TestEditInAnEditor(t *testing.T) {
	opt := testGateway(t)
	id := ask(t, opt, "m1", "git push\u202e origin").Calls[0].ID
	seen := filepath.Join(t.TempDir(), "seen")
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("VISUAL", "")
	editor := func(script string) {
		file := filepath.Join(t.TempDir(), "editor")
		writeFile(t, file, "#!/bin/sh\ncp \"$2\" "+seen+"\n"+script+"\n")
		if err := os.Chmod(file, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("EDITOR", file+" --wait")
	}
	left := func() []string {
		files, err := filepath.Glob(filepath.Join(os.TempDir(), "gatelatch-*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}

	editor(":")
	if _, err := command(t, opt, "edit", id); err == nil || !strings.Contains(err.Error(), "nothing was changed") || len(left()) != 0 {
		t.Errorf("without a change: %v, left %v", err, left())
	}
	if text, err := os.ReadFile(seen); err != nil || string(text) != "{\n  \"command\": \"git push\\u202e origin\"\n}\n" {
		t.Errorf("the editor got %q, %v", text, err)
	}
	editor("exit 3")
	if _, err := command(t, opt, "edit", id); err == nil || !strings.Contains(err.Error(), "exit status 3") || len(left()) != 0 {
		t.Errorf("an editor that fails: %v, left %v", err, left())
	}
	editor(`echo oops > "$2"`)
	_, err := command(t, opt, "edit", id)
	if err == nil || len(left()) != 1 || !strings.Contains(hintOf(err), left()[0]) {
		t.Fatalf("what can't be used: %v, hint %q, left %v", err, hintOf(err), left())
	}
	if err := os.Remove(left()[0]); err != nil {
		t.Fatal(err)
	}
	editor(`printf '{"command": "git pull"}' > "$2"`)
	mustRun(t, opt, "edit", id)
	if c := show(t, opt, id); string(c.Input) != `{"command":"git pull"}` || c.State != "pending" || len(left()) != 0 {
		t.Errorf("%s, %s, left %v", c.Input, c.State, left())
	}
}

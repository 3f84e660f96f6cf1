package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/adapter/hookcmd"
	"github.com/gatelatch/gatelatch/internal/hostconfig"
)

func TestInstallClaudeManaged(t *testing.T) {
	s := newSandbox(t)
	state := filepath.Join(s.home, "somebody's")
	s.must(t, "install", "claude", "--scope", "managed", "--yes", "--state", state)
	got := readTestFile(t, s.managed)
	for _, want := range []string{`"allowManagedHooksOnly": true`, state, `"onFailure": "block"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{s.managed: 0o644, filepath.Dir(s.managed): 0o755} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("got %v, %v; want mode %o, so that every user's agent can read it", info, err, want)
			}
		}
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("root wrote into a user's state directory")
	}
	if _, err := os.Stat(s.settings()); err == nil {
		t.Error("wrote the user's settings, too")
	}
	s.must(t, "uninstall", "claude", "--scope", "managed", "--yes")
	if got := names(t, filepath.Dir(s.managed)); got != "" {
		t.Errorf("left %s", got)
	}
}

func TestInstallClaudeManagedKeepsWhatWasThere(t *testing.T) {
	for _, text := range []string{"{\n    \"env\": {}\n}", "\xef\xbb\xbf{ \"allowManagedHooksOnly\" : true }\r\n"} {
		s := newSandbox(t)
		writeTestFile(t, s.managed, text, 0o640)
		s.must(t, "install", "claude", "--scope", "managed", "--yes")
		if got := readTestFile(t, s.managed); strings.Count(got, "allowManagedHooksOnly") != 1 {
			t.Errorf("got %s", got)
		}
		s.must(t, "uninstall", "claude", "--scope", "managed", "--yes")
		if got := readTestFile(t, s.managed); got != text || names(t, filepath.Dir(s.managed)) != "managed-settings.json" {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	s := newSandbox(t)
	writeTestFile(t, s.managed, `{"allowManagedHooksOnly":false}`, 0o644)
	s.refused(t, "somebody wants other hooks to run", "install", "claude", "--scope", "managed", "--yes")
}

func TestInstallClaudeManagedUnderSudo(t *testing.T) {
	s := newSandbox(t)
	t.Setenv("SUDO_USER", "root")
	s.refused(t, ".local/state/gatelatch", "install", "claude", "--scope", "managed", "--yes")
	s.must(t, "install", "claude", "--scope", "managed", "--yes", "--state", filepath.Join(s.home, "x"))
	s.must(t, "install", "claude", "--yes")
}

func TestInstallClaudeProject(t *testing.T) {
	s := newSandbox(t)
	t.Chdir(s.home)
	_, stderr, err := s.do(t, "", "install", "claude", "--scope", "project", "--yes")
	if err != nil || !strings.Contains(stderr, "--scope local is for you alone") {
		t.Errorf("got %v, %q", err, stderr)
	}
	s.must(t, "uninstall", "claude", "--scope", "project", "--yes")
}

// An agent that may replace the hook is not held by it.
func TestReplaceableBy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has access lists instead")
	}
	file := filepath.Join(t.TempDir(), "gatelatch-hook")
	writeTestFile(t, file, "", 0o722)
	if err := os.Chmod(file, 0o722); err != nil {
		t.Fatal(err)
	}
	if got := replaceableBy(file); !strings.Contains(got, "can be replaced by") {
		t.Errorf("a file that others may write: %q", got)
	}
	if got := replaceableBy("/bin/sh"); got != "" {
		t.Errorf("a program of the system: %q", got)
	}
	if got := replaceableBy(file + "x"); got == "" {
		t.Error("a file that is not there")
	}
}

// Exit code 2 at the end of a turn makes the agent go on for ever, and at a
// prompt swallows it: what only tells us something must hold nothing back.
func TestHooksThatOnlyTellHoldNothingBack(t *testing.T) {
	for _, e := range hostconfig.ClaudeEntries(hostconfig.Hook{Command: "/x/gatelatch-hook", Timeout: 60}) {
		if e.Event == "PreToolUse" || e.Event == "PermissionRequest" {
			continue
		}
		in, err := json.Marshal(map[string]any{"hook_event_name": e.Event, "session_id": "s", "tool_name": "Bash", "tool_use_id": "t"})
		if err != nil {
			t.Fatal(err)
		}
		var out, stderr bytes.Buffer
		code := hookcmd.Main([]string{"claude", "--state", filepath.Join(t.TempDir(), "none")}, bytes.NewReader(in), &out, &stderr, func(string) string { return "" })
		if code != 0 || strings.TrimSpace(out.String()) != "{}" {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", e.Event, code, out.String(), stderr.String())
		}
	}
}

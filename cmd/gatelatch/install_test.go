package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// sandbox is a machine of its own: no test may touch the real home, nor run
// the real claude or systemctl.
type sandbox struct {
	system
	home, bin string
	claude    string // what "claude --version" says; none is there if empty
	ran       []string
	fail      map[string]error
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{home: filepath.Join(dir, "home dir"), bin: filepath.Join(dir, "bin"), claude: "2.1.325 (Claude Code)\n", fail: map[string]error{}}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, s.home)
	}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "SUDO_USER"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", s.bin)
	writeTestFile(t, filepath.Join(s.home, "kept"), "", 0o600)
	for _, name := range []string{"gatelatch", "gatelatch-hook", "gatelatch-hook.exe"} {
		writeTestFile(t, filepath.Join(s.bin, name), "", 0o700)
	}
	s.system = system{
		goos:       "linux",
		managed:    filepath.Join(dir, "etc", "claude-code", "managed-settings.json"),
		executable: func() (string, error) { return filepath.Join(s.bin, "gatelatch"), nil },
		terminal:   func(io.Reader) bool { return false },
		run:        s.pretend,
	}
	return s
}

func (s *sandbox) pretend(_ context.Context, name string, args ...string) (string, error) {
	line := strings.Join(append([]string{name}, args...), " ")
	if name == "claude" {
		if s.claude == "" {
			return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
		}
		return s.claude, s.fail[line]
	}
	s.ran = append(s.ran, line)
	if err := s.fail[line]; err != nil {
		return err.Error(), errors.New("exit status 1")
	}
	return "", nil
}

func (s *sandbox) settings() string { return filepath.Join(s.home, ".claude", "settings.json") }

// do runs a command line and returns what it printed.
func (s *sandbox) do(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	root := &cobra.Command{Use: "gatelatch", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(installCmd(s.system), uninstallCmd(s.system), serviceCmd(s.system))
	var out, complaints bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&complaints)
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return out.String(), complaints.String(), err
}

func (s *sandbox) must(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	stdout, stderr, err := s.do(t, "", args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, stdout, stderr)
	}
	return stdout
}

// refused runs a command line that must fail with these words in the error or
// its hint.
func (s *sandbox) refused(t *testing.T, want string, args ...string) {
	t.Helper()
	_, _, err := s.do(t, "", args...)
	if err == nil || !strings.Contains(err.Error()+"\n"+hintOf(err), want) {
		t.Errorf("%v: got error %v (hint %q), want %q", args, err, hintOf(err), want)
	}
}

func writeTestFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func readTestFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// names lists a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestInstallClaude(t *testing.T) {
	s := newSandbox(t)
	out := s.must(t, "install", "claude", "--yes")
	for _, want := range []string{"+++ " + s.settings(), `+            "onFailure": "block"`, "Wrote 12 hooks", "gatelatch service install"} {
		if !strings.Contains(out, want) {
			t.Errorf("got no %q in\n%s", want, out)
		}
	}
	var got struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	if err := json.Unmarshal([]byte(readTestFile(t, s.settings())), &got); err != nil {
		t.Fatal(err)
	}
	h := got.Hooks["PreToolUse"][0].Hooks[0]
	want := "claude --state " + filepath.Join(s.home, ".local", "state", "gatelatch") + " --limit 86400 --start " + filepath.Join(s.bin, "gatelatch") +
		" --config " + filepath.Join(s.home, ".config", "gatelatch")
	if h.Command != filepath.Join(s.bin, "gatelatch-hook") || strings.Join(h.Args, " ") != want {
		t.Errorf("got %s %q, want %q", h.Command, h.Args, want)
	}
	if info, err := os.Stat(s.settings()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want mode 0600", info, err)
	}
	if out := s.must(t, "install", "claude"); !strings.Contains(out, "already") {
		t.Errorf("second time: got %s", out)
	}
	s.must(t, "uninstall", "claude", "--yes")
	if got := names(t, filepath.Dir(s.settings())); got != "" {
		t.Errorf("got %s, want an empty directory", got)
	}
}

func TestInstallThenUninstallGivesBackTheFile(t *testing.T) {
	for _, text := range []string{"", "{}", "{ }\n", `{"hooks":{}}`, "{\r\n\t\"model\": \"x\"\r\n}"} {
		s := newSandbox(t)
		writeTestFile(t, s.settings(), text, 0o640)
		s.must(t, "install", "claude", "--yes")
		s.must(t, "install", "claude", "--yes", "--no-start", "--limit", "1h")
		if got := readTestFile(t, s.settings()); !strings.Contains(got, `3600`) || strings.Contains(got, "--start") {
			t.Errorf("%q: the second install did not replace the first:\n%s", text, got)
		}
		s.must(t, "uninstall", "claude", "--yes")
		if got := readTestFile(t, s.settings()); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		if got := names(t, filepath.Dir(s.settings())); got != "settings.json" {
			t.Errorf("%q: left %s", text, got)
		}
		if info, err := os.Stat(s.settings()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("got %v, %v; want the old mode", info, err)
		}
	}
}

func TestInstallClaudeAsks(t *testing.T) {
	for answer, want := range map[string]string{"y\n": "", "YES\n": "", "n\n": "nothing was written", "\n": "nothing was written", "": "no terminal"} {
		s := newSandbox(t)
		s.terminal = func(io.Reader) bool { return true }
		out, _, err := s.do(t, answer, "install", "claude")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", answer, err, want)
		}
		if !strings.Contains(out, "Write this? [y/N] ") {
			t.Errorf("%q: was not asked: %s", answer, out)
		}
		if _, err := os.Stat(s.settings()); (err == nil) != (want == "") {
			t.Errorf("%q: file is there: %t", answer, err == nil)
		}
	}
	s := newSandbox(t)
	s.refused(t, "--yes", "install", "claude")
}

func TestInstallClaudeJSON(t *testing.T) {
	s := newSandbox(t)
	var got struct {
		File    string           `json:"file"`
		Changed bool             `json:"changed"`
		DryRun  bool             `json:"dry_run"`
		Hooks   []map[string]any `json:"hooks"`
	}
	if err := json.Unmarshal([]byte(s.must(t, "install", "claude", "--json", "--dry-run")), &got); err != nil {
		t.Fatal(err)
	}
	if got.File != s.settings() || !got.Changed || !got.DryRun || len(got.Hooks) != 12 || got.Hooks[0]["on_failure"] != "block" {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(s.settings()); err == nil {
		t.Error("a dry run wrote the file")
	}
	got.DryRun = false
	if err := json.Unmarshal([]byte(s.must(t, "install", "claude", "--json", "--yes")), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Changed || got.DryRun {
		t.Errorf("got %+v", got)
	}
	out := s.must(t, "uninstall", "claude", "--json", "--yes")
	if !strings.Contains(out, `"removed": 12`) || !strings.Contains(out, `"changed": true`) {
		t.Errorf("got %s", out)
	}
	if out := s.must(t, "uninstall", "claude", "--json"); !strings.Contains(out, `"changed": false`) {
		t.Errorf("got %s", out)
	}
}

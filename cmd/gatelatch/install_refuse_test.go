package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestInstallClaudeChecksTheVersion(t *testing.T) {
	for said, want := range map[string]string{
		"2.1.294 (Claude Code)\n": "onFailure",
		"1.9.999":                 "onFailure",
		"2.1":                     "not a version",
		"hello":                   "not a version",
	} {
		s := newSandbox(t)
		s.claude = said
		s.refused(t, want, "install", "claude", "--yes")
		if _, err := os.Stat(s.settings()); err == nil {
			t.Errorf("%q: wrote the file", said)
		}
		_, stderr, err := s.do(t, "", "install", "claude", "--yes", "--force")
		if err != nil || !strings.Contains(stderr, "warning: ") {
			t.Errorf("%q: forced: got %v, %q", said, err, stderr)
		}
	}
	for _, said := range []string{"2.1.295", "2.1.1000 (Claude Code)", "2.2.0", "3.0.0-beta"} {
		s := newSandbox(t)
		s.claude = said
		s.must(t, "install", "claude", "--yes")
	}
	s := newSandbox(t)
	s.claude = ""
	if _, stderr, err := s.do(t, "", "install", "claude", "--yes"); err != nil || !strings.Contains(stderr, "not on PATH") {
		t.Errorf("without claude: got %v, %q", err, stderr)
	}
	s = newSandbox(t)
	s.fail["claude --version"] = errors.New("exit status 3")
	s.refused(t, "exit status 3", "install", "claude", "--yes")
}

func TestInstallClaudeRefusesBadSettings(t *testing.T) {
	for text, want := range map[string]string{
		"{\n// x\n}":      "comment",
		`{"a":1,"a":2}`:   "twice",
		`[]`:              "not a JSON object",
		`{`:               "not valid JSON",
		`{"hooks": true}`: `"hooks" is true`,
	} {
		s := newSandbox(t)
		writeTestFile(t, s.settings(), text, 0o600)
		s.refused(t, s.settings()+": ", "install", "claude", "--yes")
		s.refused(t, want, "install", "claude", "--yes")
		if got := readTestFile(t, s.settings()); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestInstallClaudeWarnsOfDisabledHooks(t *testing.T) {
	s := newSandbox(t)
	writeTestFile(t, s.settings(), `{"disableAllHooks":true}`, 0o600)
	_, stderr, err := s.do(t, "", "install", "claude", "--yes")
	if err != nil || !strings.Contains(stderr, "disableAllHooks") {
		t.Errorf("got %v, %q", err, stderr)
	}
}

func TestInstallClaudeNeedsAHook(t *testing.T) {
	s := newSandbox(t)
	hook := filepath.Join(s.bin, "gatelatch-hook")
	if err := os.Chmod(hook, 0o600); err != nil {
		t.Fatal(err)
	}
	s.refused(t, "is not a program", "install", "claude", "--yes")
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	s.refused(t, "--hook PATH", "install", "claude", "--yes")
	other := filepath.Join(s.home, "my tools", "gatelatch-hook")
	writeTestFile(t, other, "", 0o700)
	s.must(t, "install", "claude", "--yes", "--hook", other)
	if got := readTestFile(t, s.settings()); !strings.Contains(got, "my tools") {
		t.Errorf("got %s", got)
	}
	wrong := filepath.Join(s.home, "wrapper")
	writeTestFile(t, wrong, "", 0o700)
	s.refused(t, "not called gatelatch-hook", "install", "claude", "--yes", "--hook", wrong)
}

func TestInstallClaudeArguments(t *testing.T) {
	s := newSandbox(t)
	s.refused(t, "--limit", "install", "claude", "--limit", "10s")
	s.refused(t, "--limit", "install", "claude", "--limit", "90500ms")
	s.refused(t, "none of the others", "install", "claude", "--scope", "local", "--settings", "x")
	s.refused(t, "managed, local, project, user", "install", "claude", "--scope", "everywhere")
	s.refused(t, `unknown host "codex"`, "install", "codex")
	s.refused(t, "unknown command", "install", "claude", "extra")
}

func TestInstallClaudePlaces(t *testing.T) {
	s := newSandbox(t)
	t.Chdir(s.home)
	s.must(t, "install", "claude", "--yes", "--scope", "local", "--state", "here")
	got := readTestFile(t, filepath.Join(s.home, ".claude", "settings.local.json"))
	if !strings.Contains(got, filepath.Join("home dir", "here")) {
		t.Errorf("the state directory is not absolute: %s", got)
	}
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(s.home, "other"))
	s.must(t, "install", "claude", "--yes")
	readTestFile(t, filepath.Join(s.home, "other", "settings.json"))
	s.must(t, "install", "claude", "--yes", "--settings", "named.json")
	readTestFile(t, filepath.Join(s.home, "named.json"))
	if _, err := os.Stat(s.settings()); err == nil {
		t.Error("wrote the default file too")
	}
}

func TestInstallClaudeThroughALink(t *testing.T) {
	s := newSandbox(t)
	target := filepath.Join(s.home, "dotfiles", "claude.json")
	writeTestFile(t, target, `{"a":1}`, 0o600)
	writeTestFile(t, filepath.Join(s.home, ".claude", "x"), "", 0o600)
	if err := os.Symlink(target, s.settings()); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("links need a privilege here: ", err)
		}
		t.Fatal(err)
	}
	if out := s.must(t, "install", "claude", "--yes"); !strings.Contains(out, "is a link; what it points to is changed: "+target) {
		t.Errorf("got %s", out)
	}
	if info, err := os.Lstat(s.settings()); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	s.must(t, "uninstall", "claude", "--yes")
	if got := readTestFile(t, target); got != `{"a":1}` {
		t.Errorf("got %s", got)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	s.refused(t, "follow the link", "install", "claude", "--yes")
}

// changing is a terminal on which somebody takes the time to edit the file.
type changing struct {
	io.Reader
	edit func()
}

func (c changing) Read(p []byte) (int, error) {
	c.edit()
	return c.Reader.Read(p)
}

func TestInstallClaudeKeepsAChangeMadeMeanwhile(t *testing.T) {
	s := newSandbox(t)
	file, err := readSettings(s.settings())
	if err != nil {
		t.Fatal(err)
	}
	s.terminal = func(io.Reader) bool { return true }
	cmd := installClaudeCmd(s.system)
	cmd.SetIn(changing{strings.NewReader("y\n"), func() { writeTestFile(t, file.path, "{}", 0o600) }})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SetArgs(nil)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("got %v", err)
	}
	if got := readTestFile(t, file.path); got != "{}" {
		t.Errorf("got %s", got)
	}
}

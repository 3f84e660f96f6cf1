package e2e

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/output"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// agents limits how many real agents run at once; each takes 200 MB and a core.
var agents = make(chan struct{}, 2)

// agent is a real Claude Code with its own HOME, project and model.
type agent struct {
	t             *testing.T
	bin           string
	home, project string
	model         *scriptedmodel.Model
	modelURL      string
}

// newAgent prepares an agent that knows nothing of Gatelatch yet. A test has one
// at most, or tests could wait for each other's.
func newAgent(t *testing.T) *agent {
	t.Helper()
	bin := need(t, claude)
	agents <- struct{}{}
	t.Cleanup(func() { <-agents })
	dir := tempDir(t)
	a := &agent{
		t: t, bin: bin, model: new(scriptedmodel.Model),
		home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"),
	}
	for _, d := range []string{a.home, a.project} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	srv := httptest.NewServer(a.model)
	t.Cleanup(srv.Close)
	a.modelURL = srv.URL
	a.onboard()
	t.Cleanup(a.killHooks)
	return a
}

// gatedAgent is an agent with the product's hooks in its HOME. They never start
// a gateway themselves, so that a test decides when there is one.
func gatedAgent(t *testing.T, g *gateway, more ...string) *agent {
	t.Helper()
	a := newAgent(t)
	// The agent is on the PATH, so that install checks its version.
	g.cliEnv(cleanEnv(a.home, "PATH="+filepath.Dir(a.bin)+":/usr/bin:/bin"), append([]string{"install", "claude", "--yes", "--no-start"}, more...)...)
	return a
}

// onboard answers what a first start in a terminal would ask.
func (a *agent) onboard() {
	a.t.Helper()
	a.writeJSON(filepath.Join(a.home, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true,
		"customApiKeyResponses":  map[string]any{"approved": []string{"dummy"}},
		"projects":               map[string]any{a.project: map[string]any{"hasTrustDialogAccepted": true}},
	})
}

func (a *agent) writeJSON(file string, v any) {
	a.t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) env(more ...string) []string {
	return cleanEnv(a.home, append([]string{
		"ANTHROPIC_BASE_URL=" + a.modelURL, "ANTHROPIC_API_KEY=dummy",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}, more...)...)
}

// made reports whether a file is in the project: the effect that was asked for.
func (a *agent) made(name string) bool { return exists(filepath.Join(a.project, name)) }

// sawRefusal fails the test unless the model was told this text as the result of
// a failed call.
func (a *agent) sawRefusal(text string) {
	a.t.Helper()
	for _, r := range a.model.Results() {
		if r.IsError && strings.Contains(r.Text, text) {
			return
		}
	}
	a.t.Errorf("the model never saw a refusal with %q; its tool results: %+v", text, a.model.Results())
}

// session is one run of "claude -p".
type session struct {
	a           *agent
	cmd         *exec.Cmd
	out, stderr output.Buffer
	exited      chan struct{}
}

// result is claude's own summary of a session.
type result struct {
	Subtype  string `json:"subtype"`
	IsError  bool   `json:"is_error"`
	Result   string `json:"result"`
	Denials  []any  `json:"permission_denials"`
	Terminal string `json:"terminal_reason"`
	Session  string `json:"session_id"`
}

// print starts "claude -p" and returns while it runs. The mode is explicit,
// because a session may otherwise start in one that asks nobody.
func (a *agent) print(prompt string, args ...string) *session {
	a.t.Helper()
	return a.printEnv(nil, prompt, append([]string{"--permission-mode", "default"}, args...)...)
}

func (a *agent) printEnv(env []string, prompt string, args ...string) *session {
	a.t.Helper()
	args = append([]string{"-p", "--output-format", "json"}, args...)
	return a.begin(env, a.bin, append(args, "--", prompt)...)
}

// begin starts a program in the project, in a process group of its own.
func (a *agent) begin(env []string, bin string, args ...string) *session {
	a.t.Helper()
	s := &session{a: a, exited: make(chan struct{})}
	s.cmd = exec.Command(bin, args...)
	s.cmd.Dir, s.cmd.Env = a.project, a.env(env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	go func() {
		defer close(s.exited)
		_ = s.cmd.Wait() // how it ended is in ProcessState
	}()
	a.t.Cleanup(s.cleanUp)
	return s
}

// cleanUp ends the agent and what it started in its process group.
func (s *session) cleanUp() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // usually all gone already
	<-s.exited
	if s.a.t.Failed() {
		s.a.t.Logf("claude's stdout: %s\nclaude's stderr: %s\ntool results: %+v", &s.out, &s.stderr, s.a.model.Results())
	}
}

// waitExit returns when the agent has ended, however it did.
func (s *session) waitExit() {
	s.a.t.Helper()
	ctx, cancel := context.WithTimeout(s.a.t.Context(), patience)
	defer cancel()
	select {
	case <-s.exited:
	case <-ctx.Done():
		s.a.t.Fatal("claude did not end")
	}
}

// result waits for the session's end.
func (s *session) result() result {
	s.a.t.Helper()
	s.waitExit()
	var r result
	if err := json.Unmarshal([]byte(s.out.String()), &r); err != nil {
		s.a.t.Fatalf("claude's result (%v): %v", s.cmd.ProcessState, err)
	}
	return r
}

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/output"
)

// stub runs the installed hook as an agent without a terminal would. It serves
// the tests that are about the page, where a real agent would only cost time.
type stub struct {
	t             *testing.T
	home, project string
	command       []string
	calls         atomic.Int64
}

func newStub(t *testing.T, g *gateway) *stub {
	t.Helper()
	s := &stub{t: t, home: tempDir(t), project: tempDir(t)}
	g.cliEnv(cleanEnv(s.home), "install", "claude", "--yes", "--no-start")
	s.command = s.installed("PreToolUse")
	return s
}

// installed is the command line of an event's first hook.
func (s *stub) installed(event string) []string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.home, ".claude", "settings.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(b, &settings); err != nil {
		s.t.Fatal(err)
	}
	groups := settings.Hooks[event]
	if len(groups) == 0 || len(groups[0].Hooks) == 0 {
		s.t.Fatalf("install wrote no %s hook: %s", event, b)
	}
	h := groups[0].Hooks[0]
	if len(h.Args) > 0 {
		return append([]string{h.Command}, h.Args...)
	}
	return []string{"/bin/sh", "-c", "exec " + h.Command}
}

// proposal is one call that waits for its answer.
type proposal struct {
	t      *testing.T
	stdout output.Buffer
	exited chan struct{}
}

// propose asks for a Bash command and returns while the hook waits.
func (s *stub) propose(command string) *proposal {
	s.t.Helper()
	return s.proposeTool("Bash", map[string]any{"command": command, "description": "Stub"})
}

// proposeTool asks for any call.
func (s *stub) proposeTool(tool string, toolInput map[string]any) *proposal {
	s.t.Helper()
	n := s.calls.Add(1)
	input, err := json.Marshal(map[string]any{
		"session_id": "stub-" + filepath.Base(s.home), "cwd": s.project, "permission_mode": "default",
		"transcript_path": filepath.Join(s.home, "none.jsonl"), "prompt_id": fmt.Sprintf("prompt-%d", n),
		"hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": fmt.Sprintf("toolu_stub_%d", n),
		"tool_input": toolInput,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	p := &proposal{t: s.t, exited: make(chan struct{})}
	cmd := exec.Command(s.command[0], s.command[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.project, strings.NewReader(string(input)), &p.stdout, os.Stderr
	cmd.Env = cleanEnv(s.home, "CLAUDE_CODE_SESSION_ATTENDED=0", fmt.Sprintf("CLAUDE_PID=%d", os.Getpid()), "CLAUDE_PROJECT_DIR="+s.project)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // the answer is on stdout
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended if it was answered
		<-p.exited
	})
	return p
}

// wantDecision waits for what the hook tells the agent.
func (p *proposal) wantDecision(want string) {
	p.t.Helper()
	until(p.t, "the hook's answer", p.answered)
	var out struct {
		Hook struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(p.stdout.String()), &out); err != nil {
		p.t.Fatalf("the hook's answer %q: %v", p.stdout.String(), err)
	}
	if out.Hook.Decision != want {
		p.t.Errorf("the hook answered %s (%s), want %s", out.Hook.Decision, out.Hook.Reason, want)
	}
}

// answered reports whether the hook has ended.
func (p *proposal) answered() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

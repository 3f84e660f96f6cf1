package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// settings is the part of the agent's settings that "install" writes.
type settings map[string]any

func (a *agent) settingsFile() string { return filepath.Join(a.home, ".claude", "settings.json") }

// dropHook takes one event's hooks out of the installed settings.
func (a *agent) dropHook(event string) {
	a.t.Helper()
	b, err := os.ReadFile(a.settingsFile())
	if err != nil {
		a.t.Fatal(err)
	}
	var s settings
	if err := json.Unmarshal(b, &s); err != nil {
		a.t.Fatal(err)
	}
	hooks, ok := s["hooks"].(map[string]any)
	if !ok || hooks[event] == nil {
		a.t.Fatalf("install wrote no %s hook: %s", event, b)
	}
	delete(hooks, event)
	a.writeJSON(a.settingsFile(), s)
}

// addHooks installs our hook for events that have none yet, as for a report.
func (a *agent) addHooks(events ...string) {
	a.t.Helper()
	b, err := os.ReadFile(a.settingsFile())
	if err != nil {
		a.t.Fatal(err)
	}
	var s settings
	if err := json.Unmarshal(b, &s); err != nil {
		a.t.Fatal(err)
	}
	hooks, ok := s["hooks"].(map[string]any)
	if !ok || hooks["PostToolUse"] == nil {
		a.t.Fatalf("install wrote no PostToolUse hook: %s", b)
	}
	for _, e := range events {
		if hooks[e] == nil {
			hooks[e] = hooks["PostToolUse"]
		}
	}
	a.writeJSON(a.settingsFile(), s)
}

// moveHook makes the settings name a program that may not be there.
func (a *agent) moveHook(to string) {
	a.t.Helper()
	b, err := os.ReadFile(a.settingsFile())
	if err == nil {
		b = bytes.ReplaceAll(b, []byte(need(a.t, product).hook), []byte(to))
		err = os.WriteFile(a.settingsFile(), b, 0o600)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// hooks are the pids of the hook processes of this agent. Its HOME tells whose
// they are, also when the agent is gone and they have another parent.
func (a *agent) hooks() []int {
	a.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		a.t.Fatal(err)
	}
	var pids []int
	for _, file := range files {
		comm, err := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(comm)) != "gatelatch-hook" {
			continue // another program, or one that has just ended
		}
		env, err := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
		if err != nil || !bytes.Contains(env, []byte("HOME="+a.home+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			a.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// waitHook returns the one hook process that waits for an answer.
func (a *agent) waitHook() int {
	a.t.Helper()
	var pids []int
	until(a.t, "one hook process", func() bool {
		pids = a.hooks()
		return len(pids) == 1
	})
	return pids[0]
}

// killHooks ends hooks that a failed test left behind: they run in sessions of
// their own and don't end with the agent's process group.
func (a *agent) killHooks() {
	for _, pid := range a.hooks() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by now
	}
}

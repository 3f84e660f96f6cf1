package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// runCommand is "gatelatch run" of a program that does nothing.
func runCommand(t *testing.T, state statedir.Dir, args ...string) error {
	t.Helper()
	root := newRootCmd()
	root.SetIn(strings.NewReader("hello"))
	root.SetArgs(append([]string{"run", "--state", string(state), "--"}, args...))
	return root.ExecuteContext(t.Context())
}

func TestRunEndsAsItsAgentDoes(t *testing.T) {
	opt := testGateway(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "agent")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var code exitError
	if err := runCommand(t, opt.state, script); !errors.As(err, &code) || code != 7 {
		t.Errorf("an agent that ends with 7: %v", err)
	}
	if err := runCommand(t, opt.state, "true"); err != nil {
		t.Errorf("one that ends well: %v", err)
	}
	if err := runCommand(t, opt.state, filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) && !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if err := runCommand(t, opt.state, script, "--bare"); !errors.As(err, &code) || code != 1 {
		t.Errorf("one out of sight: %v", err)
	}
}

// Without a gateway nothing is started.
func TestRunNeedsAGateway(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	err := runCommand(t, statedir.Dir(t.TempDir()), "touch", made)
	if !errors.Is(err, client.ErrUnreachable) || hintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the agent was started")
	}
}

//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
)

// script writes a program to run as a hook.
func script(t *testing.T, body string) Script {
	t.Helper()
	return program(t, "#!/bin/sh\n"+body)
}

func program(t *testing.T, text string) Script {
	t.Helper()
	path := filepath.Join(t.TempDir(), "check.sh")
	// A process that another test starts while the file is open for writing
	// would inherit it for a moment, and running it fails with "text file busy".
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return Script{Path: path, Timeout: time.Minute}
}

var (
	proposed = &gatelatch.Call{Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"ls <x>","n":1.50}`), Dir: "/p/src"}
	within   = &gatelatch.Session{ID: "s1", Name: "Claude Code", Project: "/p", Mode: "default"}
)

func TestScript(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want gatelatch.HookResult
		err  string
	}{
		"says nothing":                {body: ":"},
		"says nothing with blanks":    {body: "echo"},
		"does not read its input":     {body: "exec <&-; echo {}"},
		"has no opinion":              {body: "cat >/dev/null; echo '{}'"},
		"says it does not block":      {body: `echo '{"block":false}'`},
		"blocks":                      {body: `echo '{"block":true,"reason":"not on Friday"}'`, want: gatelatch.HookResult{Block: true, Reason: "not on Friday"}},
		"blocks without a reason":     {body: `echo '{"block":true}'`, want: gatelatch.HookResult{Block: true, Reason: "blocked by a hook"}},
		"blocks by its status":        {body: "echo out; echo not that one >&2; exit 2", want: gatelatch.HookResult{Block: true, Reason: "not that one"}},
		"blocks by its status alone":  {body: "exit 2", want: gatelatch.HookResult{Block: true, Reason: "blocked by a hook"}},
		"replaces the input":          {body: `echo '{"input": {"command": "pwd"}}'`, want: gatelatch.HookResult{Input: json.RawMessage(`{"command":"pwd","n":1.50}`)}},
		"fails":                       {body: "echo oops >&2; exit 1", err: "exit status 1: oops"},
		"is killed":                   {body: "kill -9 $$", err: "killed"},
		"prints no JSON":              {body: "echo ok", err: "its answer: JSON, byte 0"},
		"prints two answers":          {body: "echo '{} {}'", err: "more text"},
		"prints an unknown field":     {body: `echo '{"allow":true}'`, err: `unknown name "allow"`},
		"prints a field in capitals":  {body: `echo '{"Block":true}'`, err: "in case"},
		"prints a field twice":        {body: `echo '{"block":true,"block":false}'`, err: "repeats"},
		"prints a list":               {body: "echo '[]'", err: "its answer"},
		"gives a reason for nothing":  {body: `echo '{"reason":"x"}'`, err: "does not block"},
		"blocks and replaces":         {body: `echo '{"block":true,"input":{}}'`, err: "both"},
		"replaces by null":            {body: `echo '{"input":null}'`, err: "not an object"},
		"replaces by a list":          {body: `echo '{"input":[]}'`, err: "not an object"},
		"adds a second command":       {body: `echo '{"input":{"COMMAND":"rm x"}}'`, err: "differs only in case"},
		"prints too much":             {body: "exec yes", err: "more than 1048576 bytes"},
		"leaves a process behind":     {body: `mkfifo "$0.never"; cat "$0.never" & exit 0`, err: "left a process behind"},
		"complains much and is right": {body: "yes | head -c 2000000 >&2; echo '{}'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := script(t, tt.body).Before(t.Context(), proposed, within)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, want %q in it", err, tt.err)
			}
		})
	}
}

func TestScriptGetsTheCall(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	if _, err := script(t, "cat > "+out).Before(t.Context(), proposed, within); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"event":"before","tool":"Bash","input":{"command":"ls <x>","n":1.50},"dir":"/p/src","kind":"permission",` +
		`"session":{"id":"s1","name":"Claude Code","project":"/p","mode":"default"}}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestScriptThatCannotStart(t *testing.T) {
	t.Parallel()
	plain := script(t, ":")
	if err := os.Chmod(plain.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Script{{Path: "/nonexistent/x"}, {Path: "true"}, {Path: ""}, plain} {
		if _, err := s.Before(t.Context(), proposed, nil); err == nil {
			t.Errorf("%q: got no error", s.Path)
		}
	}
}

// blocked returns a script that starts a child, tells the child's process id
// through a pipe, and then waits with it for ever.
func blocked(t *testing.T) (s Script, pid func() int) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"pid", "never"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = script(t, "cd "+dir+"; cat never & echo $! > pid; cat never")
	return s, func() int {
		raw, err := exec.CommandContext(t.Context(), "cat", filepath.Join(dir, "pid")).Output()
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := json.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

func TestTimeoutEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	s, pid := blocked(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	child := make(chan int, 1)
	go func() {
		child <- pid() // both run now
		cancel(context.DeadlineExceeded)
	}()
	_, err := s.Before(ctx, proposed, within)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	// The child is not ours to wait for; init reaps it once it is dead.
	id := <-child
	for alive(id) {
		runtime.Gosched()
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func TestTimeoutIsAnError(t *testing.T) {
	t.Parallel()
	s, _ := blocked(t)
	s.Timeout = time.Millisecond
	if _, err := s.Before(t.Context(), proposed, within); err == nil || !strings.Contains(err.Error(), "did not answer within 1ms") {
		t.Errorf("got %v", err)
	}
}

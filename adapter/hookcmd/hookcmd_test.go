package hookcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"io"
)

const preBash = `{"session_id":"s1","cwd":"/p","prompt_id":"p1","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"touch x && y","description":"Create x"},"tool_use_id":"toolu_1"}`

func permission(raw string) string {
	return strings.NewReplacer("PreToolUse", "PermissionRequest", `,"tool_use_id":"toolu_1"`, "").Replace(raw)
}

type printed struct {
	code   int
	stdout string
	stderr string
}

func runHook(stdin io.Reader, args ...string) printed {
	var out, err bytes.Buffer
	code := Main(args, stdin, &out, &err, func(string) string { return "" })
	return printed{code, out.String(), err.String()}
}

// denied checks that the output is a denial in the event's own form.
func (p printed) denied(event string) error {
	var o struct {
		HookSpecificOutput struct {
			HookEventName, PermissionDecision, PermissionDecisionReason string
			Decision                                                    struct{ Behavior, Message string }
		}
	}
	if err := json.Unmarshal([]byte(p.stdout), &o); err != nil {
		return fmt.Errorf("stdout %q: %w", p.stdout, err)
	}
	h := o.HookSpecificOutput
	switch {
	case h.HookEventName != event:
		return fmt.Errorf("answers %q", h.HookEventName)
	case event == "PreToolUse" && (h.PermissionDecision != "deny" || h.PermissionDecisionReason == ""):
		return fmt.Errorf("not a denial with a reason: %s", p.stdout)
	case event == "PermissionRequest" && (h.Decision.Behavior != "deny" || h.Decision.Message == ""):
		return fmt.Errorf("not a denial with a message: %s", p.stdout)
	case strings.Contains(p.stdout, "allow\""):
		return fmt.Errorf("says allow: %s", p.stdout)
	}
	return nil
}

// REL-31, T13: whatever goes wrong, the host reads a denial.
func TestEveryFailureIsADenial(t *testing.T) {
	state := t.TempDir()
	good := []string{"claude", "--state", state, "--limit", "60"}
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		event string
		code  int
	}{
		"nothing":               {"", good, "PreToolUse", exitBlock},
		"not JSON":              {"hello", good, "PreToolUse", exitBlock},
		"cut off":               {preBash[:60], good, "PreToolUse", exitBlock},
		"a list":                {"[]", good, "PreToolUse", exitBlock},
		"byte order mark":       {"\ufeff" + preBash, good, "PreToolUse", exitBlock},
		"two values":            {preBash + preBash, good, "PreToolUse", exitBlock},
		"duplicate key":         {strings.Replace(preBash, `"command"`, `"command":"ls","command"`, 1), good, "PreToolUse", 0},
		"case-folded key":       {strings.Replace(preBash, `"command"`, `"COMMAND":"ls","command"`, 1), good, "PreToolUse", 0},
		"case-folded envelope":  {strings.Replace(preBash, `"tool_name"`, `"Tool_Name":"Read","tool_name"`, 1), good, "PreToolUse", 0},
		"folded key alone":      {strings.Replace(preBash, `"tool_name"`, `"Tool_Name"`, 1), good, "PreToolUse", 0},
		"wrong type":            {strings.Replace(preBash, `"Bash"`, `7`, 1), good, "PreToolUse", 0},
		"unknown event":         {strings.Replace(preBash, "PreToolUse", "Elicitation", 1), good, "PreToolUse", exitBlock},
		"no event":              {strings.Replace(preBash, `"hook_event_name":"PreToolUse",`, "", 1), good, "PreToolUse", exitBlock},
		"no call id":            {strings.Replace(preBash, `"toolu_1"`, `""`, 1), good, "PreToolUse", 0},
		"no session":            {strings.Replace(preBash, `"s1"`, `""`, 1), good, "PreToolUse", 0},
		"no tool":               {strings.Replace(preBash, `"Bash"`, `""`, 1), good, "PreToolUse", 0},
		"too large":             {strings.Replace(preBash, "touch x", strings.Repeat("a", maxStdin), 1), good, "PreToolUse", exitBlock},
		"no arguments":          {preBash, nil, "PreToolUse", 0},
		"another host":          {preBash, []string{"gemini"}, "PreToolUse", 0},
		"unknown flag":          {preBash, append(good, "--yes"), "PreToolUse", 0},
		"relative state":        {preBash, []string{"claude", "--state", "x"}, "PreToolUse", 0},
		"no state":              {preBash, []string{"claude"}, "PreToolUse", 0},
		"no limit":              {preBash, []string{"claude", "--state", state, "--limit", "0"}, "PreToolUse", 0},
		"no gateway":            {preBash, good, "PreToolUse", 0},
		"no gateway, dialog":    {permission(preBash), good, "PermissionRequest", 0},
		"dialog, duplicate key": {permission(strings.Replace(preBash, `"command"`, `"command":"ls","command"`, 1)), good, "PermissionRequest", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runHook(strings.NewReader(tt.stdin), tt.args...)
			if err := p.denied(tt.event); err != nil {
				t.Error(err)
			}
			if p.code != tt.code || (p.code != 0) != (p.stderr != "") {
				t.Errorf("exit code %d, want %d; stderr %q", p.code, tt.code, p.stderr)
			}
		})
	}
}

func TestUnreadableStdinIsADenial(t *testing.T) {
	p := runHook(iotest.ErrReader(errors.New("broken pipe")), "claude")
	if err := p.denied("PreToolUse"); err != nil || p.code != exitBlock {
		t.Errorf("%v, code %d", err, p.code)
	}
}

// A closed stdout leaves the exit code.
func TestClosedStdoutBlocks(t *testing.T) {
	var stderr bytes.Buffer
	code := Main([]string{"claude", "--state", t.TempDir()}, strings.NewReader(preBash), failingWriter{}, &stderr, func(string) string { return "" })
	if code != exitBlock || stderr.Len() == 0 {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestLateReportsAreSilent(t *testing.T) {
	p := runHook(strings.NewReader(strings.Replace(preBash, "PreToolUse", "PostToolUse", 1)), "claude", "--state", t.TempDir())
	if p.code != 0 || strings.TrimSpace(p.stdout) != "{}" {
		t.Errorf("%+v", p)
	}
}

func FuzzStdin(f *testing.F) {
	f.Add(preBash)
	f.Add(permission(preBash))
	f.Add(`{"hook_event_name":"PostToolUse"}`)
	state := f.TempDir()
	f.Fuzz(func(t *testing.T, stdin string) {
		p := runHook(strings.NewReader(stdin), "claude", "--state", state)
		if strings.Contains(p.stdout, `"permissionDecision":"allow"`) || strings.Contains(p.stdout, `"behavior":"allow"`) || !json.Valid([]byte(p.stdout)) {
			t.Errorf("without a gateway: %s", p.stdout)
		}
	})
}

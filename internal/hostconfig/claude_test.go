package hostconfig

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rooted makes the tests' paths absolute on every system.
func rooted(path string) string {
	if runtime.GOOS == "windows" {
		return `C:` + filepath.FromSlash(path)
	}
	return path
}

func testHook() Hook {
	return Hook{
		Command: rooted("/opt/gate latch/gatelatch-hook"),
		Args:    []string{"claude", "--state", rooted("/home/a&b/state"), "--limit", "86400"},
		Timeout: 86400,
	}
}

func mustClaude(t testing.TB, settings []byte, h Hook) []byte {
	t.Helper()
	out, err := Claude(settings, h)
	if err != nil {
		t.Fatalf("Claude(%q): %v", settings, err)
	}
	return out
}

func TestClaudeGolden(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the golden files hold paths of Unix")
	}
	inputs, err := filepath.Glob("testdata/*.in.json")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, in := range inputs {
		name := strings.TrimSuffix(filepath.Base(in), ".in.json")
		t.Run(name, func(t *testing.T) {
			settings, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			got := mustClaude(t, settings, testHook())
			golden := filepath.Join("testdata", name+".out.json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("differs from %s:\n%s", golden, Diff(golden, want, got))
			}
		})
	}
}

// REL-32: explicit limits, failures that block, and every tool.
func TestClaudeWritesWhatTheHostNeeds(t *testing.T) {
	h := testHook()
	var got struct {
		Hooks map[string][]struct {
			Matcher string           `json:"matcher"`
			Hooks   []map[string]any `json:"hooks"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(mustClaude(t, nil, h), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		timeout   float64
		onFailure any
	}{
		"PreToolUse":         {86400, "block"},
		"PermissionRequest":  {86400, nil},
		"PostToolUse":        {10, nil},
		"PostToolUseFailure": {10, nil},
		"PermissionDenied":   {10, nil},
		"UserPromptSubmit":   {10, nil},
		"Stop":               {10, nil},
		"StopFailure":        {10, nil},
		"SubagentStart":      {10, nil},
		"SubagentStop":       {10, nil},
		"SessionStart":       {10, nil},
		"SessionEnd":         {10, nil},
	}
	if len(got.Hooks) != len(want) {
		t.Errorf("got %d events, want %d", len(got.Hooks), len(want))
	}
	for event, w := range want {
		groups := got.Hooks[event]
		if len(groups) != 1 || groups[0].Matcher != "*" || len(groups[0].Hooks) != 1 {
			t.Errorf("%s: got %v", event, groups)
			continue
		}
		e := groups[0].Hooks[0]
		if e["type"] != "command" || e["command"] != h.Command || e["timeout"] != w.timeout || e["onFailure"] != w.onFailure {
			t.Errorf("%s: got %v", event, e)
		}
		args, ok := e["args"].([]any)
		limit := strconv.Itoa(int(w.timeout))
		if !ok || len(args) != len(h.Args) || args[2] != h.Args[2] || args[4] != limit {
			t.Errorf("%s: got args %v, want %v with limit %s", event, e["args"], h.Args, limit)
		}
	}
}

func TestClaudeTwiceChangesNothing(t *testing.T) {
	for _, settings := range samples {
		once := mustClaude(t, []byte(settings), testHook())
		if twice := mustClaude(t, once, testHook()); !bytes.Equal(twice, once) {
			t.Errorf("of %q:\n%s", settings, Diff("second time", once, twice))
		}
	}
}

func TestClaudeReplacesItsOwnEntries(t *testing.T) {
	other := Hook{Command: rooted("/usr/bin/gatelatch-hook"), Args: []string{"claude"}, Timeout: 60}
	for _, settings := range samples {
		change, err := Install([]byte(settings), nil, testHook())
		if err != nil {
			t.Fatal(err)
		}
		again, err := Install(change.Settings, change.Backup, other)
		if err != nil {
			t.Fatal(err)
		}
		if want := mustClaude(t, []byte(settings), other); !bytes.Equal(again.Settings, want) {
			t.Errorf("of %q:\n%s", settings, Diff("replaced", want, again.Settings))
		}
	}
}

func TestClaudeMendsItsOwnEntries(t *testing.T) {
	good := string(mustClaude(t, []byte(`{"model":"x"}`), testHook()))
	for name, broken := range map[string]string{
		"narrowed matcher": strings.Replace(good, `"matcher":"*"`, `"matcher":"Bash"`, 1),
		"fails open":       strings.Replace(good, `"block"`, `"ignore"`, 1),
		"event moved":      strings.Replace(good, `"PreToolUse"`, `"Notification"`, 1),
		"shell form":       `{"model":"x","hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"gatelatch hook claude"}]}]}}`,
	} {
		if broken == good {
			t.Fatalf("%s: nothing broken", name)
		}
		if got := mustClaude(t, []byte(broken), testHook()); string(got) != good {
			t.Errorf("%s:\n%s", name, Diff("mended", []byte(good), got))
		}
	}
}

func TestClaudeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ settings, want string }{
		"cut off":          {`{"a":1`, "line 1, column 6: is not valid JSON: unexpected end"},
		"trailing comma":   {"{\n  \"a\": 1,\n}", "line 3, column 1: is not valid JSON"},
		"two values":       {`{} {}`, "is not valid JSON"},
		"line comment":     {"{\n  // note\n  \"a\": 1\n}", "line 2, column 3: has a comment"},
		"block comment":    {`{"a": /* x */ 1}`, "column 7: has a comment"},
		"comment at start": {"// x\n{}", "line 1, column 1: has a comment"},
		"only a mark":      {"\xef\xbb\xbf", "is not valid JSON"},
		"array":            {`[]`, "is an array, not a JSON object"},
		"string":           {`"x"`, "is a string, not a JSON object"},
		"null":             {`null`, "is null, not a JSON object"},
		"number":           {`1`, "is a number, not a JSON object"},
		"duplicate key":    {"{\"a\":1,\n\"a\":2}", `line 2, column 1: has the key "a" twice`},
		"escaped double":   {`{"hooks":{},"h\u006foks":{}}`, `has the key "hooks" twice`},
		"deep duplicate":   {`{"x":[{"y":{"z":1,"z":1}}]}`, `has the key "x[0].y.z" twice`},
		"hooks a list":     {`{"hooks":[]}`, `"hooks" is an array, not an object`},
		"hooks null":       {`{"hooks":null}`, `"hooks" is null, not an object`},
		"event an object":  {`{"hooks":{"PreToolUse":{}}}`, `"hooks.PreToolUse" is an object, not an array`},
		"group a string":   {`{"hooks":{"PostToolUse":["x"]}}`, `"hooks.PostToolUse[0]" is a string, not an object`},
		"group without":    {`{"hooks":{"PreToolUse":[{"matcher":"*"}]}}`, `"hooks.PreToolUse[0]" has no array "hooks"`},
	} {
		out, err := Claude([]byte(c.settings), testHook())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
		if out != nil {
			t.Errorf("%s: got text %q beside the error", name, out)
		}
	}
}

func TestClaudeRefusesHooks(t *testing.T) {
	for name, change := range map[string]func(*Hook){
		"relative path": func(h *Hook) { h.Command = "gatelatch-hook" },
		"other program": func(h *Hook) { h.Command = rooted("/usr/bin/env") },
		"no timeout":    func(h *Hook) { h.Timeout = 0 },
		"placeholder":   func(h *Hook) { h.Args = []string{"${CLAUDE_PROJECT_DIR}"} },
		"zero byte":     func(h *Hook) { h.Args = []string{"a\x00b"} },
		"not UTF-8":     func(h *Hook) { h.Args = []string{"\xff"} },
	} {
		h := testHook()
		change(&h)
		if _, err := Claude(nil, h); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestClaudeWarnings(t *testing.T) {
	for settings, want := range map[string]int{
		``: 0, `{}`: 0, `{"disableAllHooks":false}`: 0, `{"disableAllHooks":true}`: 1, `{"x":{"disableAllHooks":true}}`: 0,
		`{"permissions":3}`: 1, `{"permissions":{"allow":"x"}}`: 1, `{"env":[]}`: 1, `{"permissions":{"allow":[]}}`: 0,
	} {
		if got := len(ClaudeWarnings([]byte(settings))); got != want {
			t.Errorf("%s: got %d warnings, want %d", settings, got, want)
		}
	}
}

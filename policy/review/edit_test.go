package review

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// add merges rules that allow.
func add(data string, texts ...string) (string, error) {
	block, err := yaml.Marshal(texts)
	if err != nil {
		return "", err
	}
	out, err := Merge([]byte(data), map[string]string{"allow": string(block), "deny": ""})
	return string(out), err
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string][2]string{
		"to a list":       {"version: 1\nallow:  # mine\n    # reading\n    - Read(./**)\nask: []\n", "version: 1\nallow:  # mine\n    - Bash(a b)\n    - mcp__x__y\n    # reading\n    - Read(./**)\nask: []\n"},
		"without indent":  {"version: 1\nallow:\n- Read(./**)\n", "version: 1\nallow:\n- Bash(a b)\n- mcp__x__y\n- Read(./**)\n"},
		"to an empty one": {"version: 1\nallow:\ndeny: [X]\n", "version: 1\nallow:\n  - Bash(a b)\n  - mcp__x__y\ndeny: [X]\n"},
		"to none":         {"version: 1\ndeny: [X]", "version: 1\ndeny: [X]\nallow:\n  - Bash(a b)\n  - mcp__x__y\n"},
		"one that is in":  {"version: 1\nallow:\n  - Bash(a b)\n", "version: 1\nallow:\n  - Bash(a b)\n  - mcp__x__y\n  - Bash(a b)\n"},
		"with CRLF":       {"version: 1\r\nallow:\r\n  - Read(./**)\r\n", "version: 1\r\nallow:\r\n  - Bash(a b)\n  - mcp__x__y\n  - Read(./**)\r\n"},
	} {
		got, err := add(tt[0], "Bash(a b)", "mcp__x__y")
		if err != nil || got != tt[1] {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	for name, text := range map[string]string{
		"a list in one line": "version: 1\nallow: [Read(./**)]\n",
		"a file in one line": "{version: 1, allow: [Read(./**)]}\n",
		"no policy":          "version: 2\n",
		"an end":             "version: 1\n...\n",
	} {
		if got, err := add(text, "Bash(a b)"); err == nil {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	got, err := add("version: 1\n", "Bash(echo 'a: b # c')", "Bash(git add:*)")
	if err != nil || !strings.Contains(got, "'Bash(echo ''a: b # c'')'") {
		t.Errorf("%v\n%s", err, got)
	}
}

// A rule for one project stands in a section of its own, path first; the rest of
// the file stays as it is.
func TestAddPutsARuleWhereItBelongs(t *testing.T) {
	const before = "version: 1\nallow:\n  - Read # as it was\nprojects:\n  - path: /b\n    deny: [Bash(make)]\n"
	for _, c := range []struct{ effect, project, want string }{
		{"allow", "", "version: 1\nallow:\n  - Bash(npm test)\n  - Read # as it was\nprojects:\n  - path: /b\n    deny: [Bash(make)]\n"},
		{"deny", "", before + "deny:\n  - Bash(npm test)\n"},
		{"allow", "/a", "version: 1\nallow:\n  - Read # as it was\nprojects:\n  - path: /a\n    allow:\n      - Bash(npm test)\n  - path: /b\n    deny: [Bash(make)]\n"},
	} {
		got, err := Add([]byte(before), c.effect, "Bash(npm test)", c.project)
		if err != nil || string(got) != c.want {
			t.Errorf("%s in %q: %v\n%s\nwant\n%s", c.effect, c.project, err, got, c.want)
		}
	}
	if _, err := Add([]byte(before), "version", "2", ""); err == nil {
		t.Error("what is no rule was added")
	}
}

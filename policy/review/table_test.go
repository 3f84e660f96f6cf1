package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	t.Parallel()
	cases, err := ParseTable("t.yaml", []byte(`version: 1
tests:
  - {tool: Bash, command: git status, expect: allow}
  - {tool: Bash, command: git push, expect: deny, because: "Bash(git push:*)"}
  - {tool: Bash, command: git push, expect: deny, because: Bash(git)}   # another rule
  - {tool: Read, path: ./src/a.go, expect: allow}
  - {tool: Read, path: a, dir: /etc, expect: ask}
  - {tool: Read, path: /elsewhere/a, project: /elsewhere, expect: allow}
  - {tool: NotebookEdit, path: a.ipynb, expect: ask, name: a notebook}
  - tool: mcp__a__b
    input: {n: 1, at: 2026-01-01, list: [x, true, null]}
    expect: allow
  - {tool: Bash, command: git status, expect: deny}   # is allowed
`))
	if err != nil {
		t.Fatal(err)
	}
	set := rules(t, "allow: [Bash(git status), Read(./**), mcp__a__b]\ndeny: ['Bash(git push:*)']\n")
	var got []string
	for i := range cases {
		o := cases[i].Try(t.Context(), set)
		got = append(got, fmt.Sprintf("%s %s: %v", o.Source, o.Name, o.OK))
	}
	want := []string{
		"t.yaml:3 Bash git status: true", "t.yaml:4 Bash git push: true", "t.yaml:5 Bash git push: false", "t.yaml:6 Read ./src/a.go: true",
		"t.yaml:7 Read a: true", "t.yaml:8 Read /elsewhere/a: true", "t.yaml:9 a notebook: true",
		`t.yaml:10 mcp__a__b {"at":"2026-01-01","list":["x",true,null],"n":1}: true`, "t.yaml:13 Bash git status: false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTableErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                    "t.yaml:1: the file is empty",
		"tests: []\n":         "t.yaml:1: version: 1 is missing",
		"version: 1\n":        "t.yaml:1: tests is a list",
		"version: 1\nx: 1\n":  `t.yaml:2: unknown key "x"`,
		"version: [":          "t.yaml: ",
		"version: 1\n---\na:": "t.yaml: there is a second document",
		"version: 1\ntests: [{tool: Bash, command: ls}]":                                     "t.yaml:2: expect is missing",
		"version: 1\ntests: [{command: ls, expect: ask}]":                                    "t.yaml:2: tool is missing",
		"version: 1\ntests: [{tool: Bash, command: ls, expect: perhaps}]":                    `t.yaml:2: effect "perhaps" is none`,
		"version: 1\ntests: [{tool: Bash, command: ls, expect: ask, mode: yolo}]":            `t.yaml:2: mode "yolo" is none`,
		"version: 1\ntests: [{tool: Bash, path: ls, expect: ask}]":                           "t.yaml:2: Bash has no path",
		"version: 1\ntests: [{tool: Bash, command: ls, input: {command: x}, expect: ask}]":   "t.yaml:2: give the input once",
		"version: 1\ntests: [{tool: Bash, command: ls, command: rm, expect: ask}]":           `t.yaml:2: the key "command" is there twice`,
		"version: 1\ntests: [{tool: Bash, command: 1, expect: ask}]":                         "t.yaml:2: expected a text",
		"version: 1\ntests: [{tool: X, input: text, expect: ask}]":                           "t.yaml:2: input is an object",
		"version: 1\ntests: [{tool: X, input: {a: &b 1, c: *b}, expect: ask}]":               "t.yaml:2: an input has no anchors",
		"version: 1\ntests:\n  - {tool: Bash, command: ls, expect: ask}\n  - {tool: Bash}\n": "t.yaml:4: expect is missing",
	} {
		if _, err := ParseTable("t.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

package review

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
)

var update = flag.Bool("update", false, "write testdata anew")

func rules(t rapid.TB, text string) *policy.Set {
	t.Helper()
	s, err := policy.Parse("policy.yaml", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func explained(t rapid.TB, set *policy.Set, tool, text string) string {
	t.Helper()
	input, err := Input(tool, text)
	if err != nil {
		t.Fatalf("%s %s: %v", tool, text, err)
	}
	c := &gatelatch.Call{Kind: gatelatch.Permission, Tool: tool, Input: input, Dir: "/srv/app"}
	var b strings.Builder
	Explain(&b, c, set.Judge(context.Background(), c, &gatelatch.Session{Project: "/srv/app"}, nil), set.Rules())
	return b.String()
}

func TestGoldenExplanations(t *testing.T) {
	t.Parallel()
	set := rules(t, `
allow:
  - Bash(npm run:*)
  - Read(/srv/**)
ask:
  - rule: Bash(npm publish:*)
    why: a release is for a person
deny:
  - rule: Bash(rm:*)
    why: use the trash
  - Bash(git push:*)
  - rule: mcp__db__query
    where: {sql: {matches: '(?i).*drop.*'}, db: main}
  - rule: Bash
    where: {description: {matches: '.*secret.*'}}
`)
	var got strings.Builder
	for _, c := range [][2]string{
		{"Bash", "npm run test"},
		{"Bash", "git push -f"},
		{"Bash", "npm publish && echo '漢字 x' && rm -rf y"},
		{"Bash", "ls\n\trm x\x1b[2K\u202e\necho done"},
		{"Bash", "echo " + strings.Repeat("a", 300) + "; rm x; echo " + strings.Repeat("b", 300)},
		{"Bash", strings.Repeat("rm x\n", 12)},
		{"Bash", "make"},
		{"Bash", `{"command":"npm run x","shell":"zsh"}`},
		{"Read", "/srv/a"},
		{"Edit", "/srv/app/.git/config"},
		{"WebFetch", "https://me@example.com"},
		{"mcp__fs__write", `{"path": "/srv/.mcp.json", "text": "⟨"}`},
		{"mcp__db__query", `{"sql":"select 1; DROP TABLE x","db":"main"}`},
		{"Bash", `{"command":"cat secret","description":"show the secret"}`},
		{"TodoWrite", ""},
	} {
		fmt.Fprintf(&got, "== %s\n", explained(t, set, c[0], c[1]))
	}
	file := filepath.Join("testdata", "explain.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("run with -update if this is right:\n%s", diff)
	}
}

// Whatever an agent wrote, the terminal gets characters that show, and carets
// of the same width as what they underline.
func TestExplanationsAreSafe(t *testing.T) {
	t.Parallel()
	set := rules(t, "deny: ['Bash(rm:*)']\nask: ['Bash']\n")
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("rm x;'\"\n\t\x1b\u202e漢")))).Draw(t, "command")
		raw, err := strictjson.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Skip("no JSON")
		}
		for _, r := range explained(t, set, "Bash", string(raw)) {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
				t.Fatalf("%q gets through", r)
			}
		}
	})
}

// A span that is not of its part is looked up instead.
func TestExplainFindsThePart(t *testing.T) {
	t.Parallel()
	c := &gatelatch.Call{Tool: "Bash", Input: []byte(`{"command":"a bc"}`)}
	for _, r := range []gatelatch.Reason{{Part: "bc", Start: 0, End: 2}, {Part: "bc", Start: 3, End: 9}, {Part: "bc", Start: -4, End: 2}, {Part: "bc"}} {
		var b strings.Builder
		Explain(&b, c, gatelatch.Verdict{Reasons: []gatelatch.Reason{r}}, nil)
		if !strings.HasSuffix(b.String(), "\n         a bc\n           ^^\n") {
			t.Errorf("%+v:\n%s", r, b.String())
		}
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{
		{"Bash", "ls", `{"command":"ls"}`}, {"Read", "a", `{"file_path":"a"}`}, {"NotebookEdit", "a", `{"notebook_path":"a"}`},
		{"Bash", ` {"command": "ls"}`, `{"command":"ls"}`}, {"TodoWrite", "", `{}`}, {"Bash", "", `{"command":""}`}, {"Bash", "a<b", `{"command":"a<b"}`},
	} {
		if got, err := Input(tt[0], tt[1]); err != nil || string(got) != tt[2] {
			t.Errorf("%s %q: got %s, %v", tt[0], tt[1], got, err)
		}
	}
	for _, tt := range [][2]string{{"mcp__a__b", "text"}, {"Bash", `{"command":"ls","COMMAND":"rm"}`}, {"Bash", "{"}} {
		if got, err := Input(tt[0], tt[1]); err == nil {
			t.Errorf("%s %q: got %s", tt[0], tt[1], got)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"abc": 3, "漢字": 4, "한글": 4, "e\u0301": 1, "🚀x": 3, "ｆ": 2, "é…→": 3} {
		got := 0
		for _, r := range text {
			got += columns(r)
		}
		if got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

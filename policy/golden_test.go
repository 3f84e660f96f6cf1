package policy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
)

var update = flag.Bool("update", false, "write testdata anew")

// explain writes a verdict as a person would read it.
func explain(v gatelatch.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", v.Effect)
	for _, r := range v.Reasons {
		fmt.Fprintf(&b, "  %s [%s] %s", r.Effect, r.Layer, r.Message)
		if r.Rule != "" {
			fmt.Fprintf(&b, " | %s at %s", r.Rule, r.Source)
		}
		if r.Part != "" {
			fmt.Fprintf(&b, " | %s %q", r.Field, r.Part)
		}
		if r.End > 0 {
			fmt.Fprintf(&b, " %d-%d", r.Start, r.End)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestExplanations(t *testing.T) {
	t.Parallel()
	set := rules(t, `
allow:
  - Read(/srv/**)
  - Bash(npm run:*)
  - mcp__fs__*
  - WebFetch(domain:example.com)
  - Write(/srv/**)
ask:
  - rule: Bash(npm publish:*)
    why: a release is for a person
deny:
  - rule: Bash(rm:*)
    why: use the trash
  - Read(**/.env*)
`)
	var got strings.Builder
	for _, c := range []*gatelatch.Call{
		bash("npm run test"), bash("npm publish"), bash("npm run test && rm x; sudo rm y"), bash("env npm run test"), bash("ls 'x"), bash("make"), bash("npm run x --out=.git/hooks/y"), call("mcp__fs__write", `{"files":[{"path":"/srv/.mcp.json"}]}`),
		bash("npm run test > f"), call("Bash", `{"command":"npm run x","shell":"zsh"}`), call("Bash", `{}`),
		call("Read", `{"file_path":"/srv/a"}`), call("Read", `{"file_path":"/srv/.env"}`), call("Read", `{"file_path":"a"}`), call("Read", `{"file_path":"/elsewhere"}`), call("Read", `{"file_path":"/srv/a "}`),
		call("Write", `{"file_path":"/srv/.git/config","content":""}`), call("WebFetch", `{"url":"https://me@example.com"}`),
		call("Other", `{}`), call("Other", `{"a":1,"A":2}`),
	} {
		fmt.Fprintf(&got, "%s %s\n%s\n", c.Tool, c.Input, explain(judge(t, set, c)))
	}
	path := filepath.Join("testdata", "explanations.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

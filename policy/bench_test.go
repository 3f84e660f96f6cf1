package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// manyRules writes n rules of all kinds.
func manyRules(n int) []byte {
	lists := map[string]*strings.Builder{"allow": {}, "ask": {}, "deny": {}}
	for i := range n {
		list := []string{"allow", "ask", "deny"}[i%3]
		rule := []string{
			"Read(./src/mod%d/**)", "Edit(./pkg/p%d/*.go)", "Read(**/secret%d.key)", "mcp__server%d__get", "mcp__other%d__*",
			"WebFetch(domain:host%d.example.com)", "Bash(tool%d run:*)", "Skill(skill%d)", "Write(~/notes/n%d.md)",
		}[i%9]
		if i%10 == 9 {
			fmt.Fprintf(lists[list], "  - {rule: mcp__gh__create_issue, where: {repo: 'acme/r%d'}}\n", i)
			continue
		}
		fmt.Fprintf(lists[list], "  - '"+rule+"'\n", i)
	}
	return fmt.Appendf(nil, "version: 1\nallow:\n%sask:\n%sdeny:\n%s", lists["allow"], lists["ask"], lists["deny"])
}

func benchCalls() map[string]*gatelatch.Call {
	in := func(c *gatelatch.Call) *gatelatch.Call { c.Dir = "/p"; return c }
	return map[string]*gatelatch.Call{
		"Read":     in(call("Read", `{"file_path":"src/mod0/deep/er/file.go"}`)),
		"Edit":     in(call("Edit", `{"file_path":"/p/pkg/p1/file.go"}`)),
		"MCP":      in(call("mcp__server3__get", `{"id":7}`)),
		"Where":    in(call("mcp__gh__create_issue", `{"repo":"acme/r9","title":"x"}`)),
		"WebFetch": in(call("WebFetch", `{"url":"https://host5.example.com/x"}`)),
		"Miss":     in(call("Read", `{"file_path":"/elsewhere/and/further/away.txt"}`)),
	}
}

// BenchmarkJudge judges calls that are neither shell commands nor read anew.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		s, err := Parse("policy.yaml", manyRules(n))
		if err != nil {
			b.Fatal(err)
		}
		for name, c := range benchCalls() {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				f := s.Read(c, &gatelatch.Session{Project: "/p"})
				b.ReportAllocs()
				for b.Loop() {
					s.JudgeFacts(f, nil)
				}
			})
		}
	}
}

// BenchmarkRead reads the facts, with what the system says about files.
func BenchmarkRead(b *testing.B) {
	s := Default()
	for name, c := range benchCalls() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Read(c, &gatelatch.Session{Project: "/p"})
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	data := manyRules(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("policy.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}

func TestJudgingAllocatesLittle(t *testing.T) {
	s, err := Parse("policy.yaml", manyRules(1000))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range benchCalls() {
		f := s.Read(c, &gatelatch.Session{Project: "/p"})
		if v := s.JudgeFacts(f, nil); (v.Reasons[0].Rule == "") != (name == "Miss") {
			t.Errorf("%s: got %s", name, messages(v))
		}
		if got := testing.AllocsPerRun(100, func() { s.JudgeFacts(f, nil) }); got > 2 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

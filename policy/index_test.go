package policy

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
)

// scan is what the index stands for: every rule looks at the call.
func scan(s *Set, f *Facts) (out []string) {
	for _, l := range s.layers {
		for i := range l.rules {
			hits, err := l.rules[i].match(f, nil)
			for _, h := range hits {
				out = append(out, fmt.Sprint(l.rules[i].reason(h), err))
			}
		}
	}
	return out
}

func indexed(s *Set, f *Facts) (out []string) {
	for _, l := range s.layers {
		for _, id := range l.index.collect(f, nil) {
			hits, err := l.rules[id].match(f, nil)
			for _, h := range hits {
				out = append(out, fmt.Sprint(l.rules[id].reason(h), err))
			}
		}
	}
	return out
}

// Texts that meet often, so that rules and calls do.
var (
	indexName  = rapid.SampledFrom([]string{"a", "b", "B", ".env", "x.go", "x.test.go", "Makefile", "é", "ſ", `\{a\}`})
	indexGlob  = rapid.OneOf(indexName, rapid.SampledFrom([]string{"*", "**", "*.go", "*.test.go", "x*", "?", "[ab]", "{a,b}", "{a/b,x.go}", ".env*", "*é"}))
	indexPath  = rapid.Map(rapid.SliceOfN(indexName, 1, 4), join)
	indexWhere = rapid.SampledFrom([]string{
		"", "", "{repo: a}", "{repo: A}", "{repo: 1}", "{repo: 1.0}", "{repo: true}", "{repo: {in: [a, b, 2]}}", "{'x[]': a}", "{'x[].y': {in: [a, B]}}", "{x.y: a, repo: b}",
		"{repo: {present: true}}", "{repo: {present: false}}", "{repo: {matches: 'a.*'}}", "{repo: {at_least: 1, at_most: 2}}", "{repo: {under: ./a}}", "{repo: {domain: a.b}}",
	})
	indexValue = rapid.SampledFrom([]string{`"a"`, `"A"`, `" a "`, `"b"`, `1`, `1.0`, `1e0`, `2`, `3`, `true`, `null`, `{}`, `[]`, `["a"]`, `["a","b"]`, `{"y":"a"}`, `[{"y":"B"}]`, `[{"y":"b"},{}]`, `"./a/x"`, `"https://x.a.b/c"`})
	indexRule  = rapid.Custom(func(t *rapid.T) string {
		draw := func(options ...string) string { return rapid.SampledFrom(options).Draw(t, "option") }
		rule := ""
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0, 1:
			glob := join(rapid.SliceOfN(indexGlob, 1, 4).Draw(t, "glob"))
			rule = draw("Read", "Edit", "Write", "Glob") + "(" + draw("./", "/", "~/", "**/") + glob + ")"
		case 2:
			rule = draw("mcp__s__t", "mcp__s__*", "mcp__s", "mcp__s__t__u", "Read", "Edit", "Other")
		case 3:
			rule = "WebFetch(domain:" + draw("a.b", "b", "*.a.b", "x.a.b") + ")"
		case 4:
			rule = draw("Bash(a:*)", "Bash(a b)", "Bash(/bin/a:*)", "Bash", "Bash(*)", "Skill(a)", "Skill(B)")
		}
		where := indexWhere.Draw(t, "where")
		if where == "" {
			return fmt.Sprintf("- '%s'\n", rule)
		}
		return fmt.Sprintf("- {rule: '%s', where: %s}\n", rule, where)
	})
	indexCall = rapid.Custom(func(t *rapid.T) *gatelatch.Call {
		repo := indexValue.Draw(t, "repo")
		input := func(field string, value any) string {
			return fmt.Sprintf(`{%q:%q,"repo":%s,%q:%s}`, field, value, repo, rapid.SampledFrom([]string{"x", "X"}).Draw(t, "name"), indexValue.Draw(t, "x"))
		}
		tool := rapid.SampledFrom([]string{"Read", "Edit", "Write", "Glob", "MultiEdit", "mcp__s__t", "mcp__s__t__u", "mcp__s", "mcp__s2__t", "Other", "WebFetch", "Bash", "Skill"}).Draw(t, "tool")
		c := call(tool, "{}")
		c.Dir = rapid.SampledFrom([]string{"/p", "/p/a", ""}).Draw(t, "dir")
		switch {
		case pathTools[tool].field != "":
			path := rapid.SampledFrom([]string{"/p/", "/h/", "/", "", "~/", " "}).Draw(t, "root") + indexPath.Draw(t, "path")
			c.Input = []byte(input(pathTools[tool].field, path))
		case tool == "WebFetch":
			c.Input = []byte(input("url", rapid.SampledFrom([]string{"https://a.b/c", "https://x.a.b", "http://B", "https://u@a.b", "https://ａ.b"}).Draw(t, "url")))
		case tool == "Bash":
			c.Input = []byte(input("command", rapid.SampledFrom([]string{"a", "a b", "A b c", "/bin/a x", "sudo -u x a b", "ls; a b", "a 'x"}).Draw(t, "command")))
		case tool == "Skill":
			c.Input = []byte(input("skill", rapid.SampledFrom([]string{"a", "A", "b"}).Draw(t, "skill")))
		default:
			c.Input = []byte(fmt.Sprintf(`{"repo":%s,"x":%s}`, repo, indexValue.Draw(t, "x")))
		}
		return c
	})
)

func join(parts []string) string {
	out := parts[0]
	for _, p := range parts[1:] {
		out += "/" + p
	}
	return out
}

func TestIndexFindsWhatAScanFinds(t *testing.T) {
	t.Parallel()
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		yaml := "version: 1\n"
		for _, list := range []string{"allow", "ask", "deny"} {
			yaml += list + ":\n"
			for _, rule := range rapid.SliceOfN(indexRule, 0, 8).Draw(rt, list) {
				yaml += rule
			}
		}
		s, err := Parse("policy.yaml", []byte(yaml))
		if err != nil {
			rt.Fatalf("%v\n%s", err, yaml)
		}
		sess := &gatelatch.Session{Project: rapid.SampledFrom([]string{"/p", "", "/"}).Draw(rt, "project")}
		w := world{home: rapid.SampledFrom([]string{"/h", ""}).Draw(rt, "home"), disk: writtenDisk{}}
		for range 8 {
			f := newFacts(indexCall.Draw(rt, "call"), sess, w)
			want, got := scan(s, f), indexed(s, f)
			if !slices.Equal(want, got) {
				rt.Fatalf("%s %s in %q\n%s\ngot  %q\nwant %q", f.call.Tool, f.call.Input, f.call.Dir, yaml, got, want)
			}
			found += len(got)
		}
	})
	if found == 0 {
		t.Error("no rule ever matched")
	}
}

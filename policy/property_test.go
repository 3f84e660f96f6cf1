package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

type written struct{ list, rule string }

func build(t interface{ Fatal(...any) }, ws []written) *Set {
	var b strings.Builder
	b.WriteString("version: 1\n")
	for _, list := range []string{"allow", "ask", "deny"} {
		fmt.Fprintf(&b, "%s:\n", list)
		for _, w := range ws {
			if w.list == list {
				fmt.Fprintf(&b, "  - '%s'\n", w.rule)
			}
		}
	}
	s, err := Parse("policy.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	anyRule = rapid.SampledFrom([]string{
		"Bash", "Bash(*)", "Bash(ls:*)", "Bash(git:*)", "Bash(git push:*)", "Bash(make)", "Bash(rm:*)", "Bash(rm -rf y)",
		"Read(./**)", "Read(**/.env*)", "Read(/etc/**)", "Write(./**)", "Write", "TodoWrite", "mcp__x__*", "mcp__x__y", "WebFetch(domain:example.com)",
	})
	strictRule = rapid.Custom(func(t *rapid.T) written {
		rule := rapid.OneOf(anyRule, rapid.SampledFrom([]string{"*", "mcp__*", "Bash(sudo:*)", "Read(.env)"})).Draw(t, "rule")
		return written{rapid.SampledFrom([]string{"ask", "deny"}).Draw(t, "list"), rule}
	})
	someRules = rapid.SliceOfN(rapid.OneOf(strictRule, rapid.Custom(func(t *rapid.T) written {
		return written{"allow", anyRule.Draw(t, "rule")}
	})), 0, 6)
	someCommand = rapid.OneOf(
		rapid.SampledFrom([]string{"ls", "ls -la", "git status", "git push -f", "make", "make x", "rm -rf y", "cat 'a b'", "sudo ls", "ls > f", "echo $(rm x)"}),
		rapid.StringMatching(`(ls|git|rm|make)( [a-z./'"$;|&-]{1,5}){0,3}`),
	)
	someCall = rapid.OneOf(
		rapid.Map(someCommand, bash),
		rapid.Map(rapid.SampledFrom([]string{"/p/a", "/p/.env", "/etc/x", "../x", "a", "/p/.git/x"}), func(p string) *gatelatch.Call {
			return call("Read", map[string]any{"file_path": p})
		}),
		rapid.Map(rapid.SampledFrom([]string{"/p/a", "/p/.git/x", "/etc/x"}), func(p string) *gatelatch.Call {
			return call("Write", map[string]any{"file_path": p})
		}),
		rapid.Map(rapid.SampledFrom([]string{"TodoWrite", "mcp__x__y", "mcp__x__z", "Other", "WebFetch"}), func(tool string) *gatelatch.Call {
			return call(tool, map[string]any{"url": "https://example.com", "command": "ls"})
		}),
	)
	session = &gatelatch.Session{Project: "/p"}
)

func TestAddingAStrictRuleNeverLoosens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		before := someRules.Draw(rt, "rules")
		after := append(slices.Clone(before), strictRule.Draw(rt, "added"))
		c := someCall.Draw(rt, "call")
		a, b := build(rt, before).Judge(t.Context(), c, session), build(rt, after).Judge(t.Context(), c, session)
		if b.Effect > a.Effect {
			rt.Fatalf("%s %s: %s became %s", c.Tool, c.Input, a.Effect, b.Effect)
		}
	})
}

func TestOrderOfRulesDoesNotMatter(t *testing.T) {
	t.Parallel()
	said := func(v gatelatch.Verdict) []string {
		var out []string
		for _, r := range v.Reasons {
			out = append(out, fmt.Sprint(r.Effect, r.Rule, r.Message, r.Part, r.Start, r.End))
		}
		slices.Sort(out)
		return out
	}
	rapid.Check(t, func(rt *rapid.T) {
		one := someRules.Draw(rt, "rules")
		other := rapid.Permutation(one).Draw(rt, "permuted")
		c := someCall.Draw(rt, "call")
		a, b := build(rt, one).Judge(t.Context(), c, session), build(rt, other).Judge(t.Context(), c, session)
		if a.Effect != b.Effect || !slices.Equal(said(a), said(b)) {
			rt.Fatalf("%s %s: %q and %q", c.Tool, c.Input, said(a), said(b))
		}
	})
}

func TestWrappingNeverLoosens(t *testing.T) {
	t.Parallel()
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	wraps := map[string]func(string) string{
		"env": func(s string) string { return "env " + s }, "sudo": func(s string) string { return "sudo -n " + s },
		"sh -c": func(s string) string { return "sh -c " + quoted(s) }, "eval": func(s string) string { return "eval " + quoted(s) },
		"subshell": func(s string) string { return "(" + s + ")" }, "group": func(s string) string { return "{ " + s + "; }" },
		"list": func(s string) string { return "ls; " + s }, "and": func(s string) string { return s + " && ls" },
		"pipe": func(s string) string { return s + " | cat" }, "background": func(s string) string { return s + " &" },
		"redirection": func(s string) string { return s + " > f" }, "assignment": func(s string) string { return "A=1 " + s },
		"substitution": func(s string) string { return "echo $(" + s + ")" }, "function": func(s string) string { return "f() { " + s + "; }; f" },
		"newline": func(s string) string { return "ls\n" + s }, "loop": func(s string) string { return "while ls; do " + s + "; done" },
		"not": func(s string) string { return "! " + s }, "time": func(s string) string { return "time " + s },
	}
	names := []string{}
	for name := range wraps {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		set := build(rt, someRules.Draw(rt, "rules"))
		command := someCommand.Draw(rt, "command")
		wrapped := wraps[rapid.SampledFrom(names).Draw(rt, "wrap")](command)
		a, b := set.Judge(t.Context(), bash(command), session), set.Judge(t.Context(), bash(wrapped), session)
		if b.Effect == gatelatch.Allow {
			rt.Fatalf("%q is allowed, %q is %s", wrapped, command, a.Effect)
		}
		if a.Effect == gatelatch.Deny && b.Effect != gatelatch.Deny && shell.Analyse(command).Err == "" {
			rt.Fatalf("%q is denied, %q is %s", command, wrapped, b.Effect)
		}
	})
}

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
		a, b := build(rt, before).Judge(t.Context(), c, session, nil), build(rt, after).Judge(t.Context(), c, session, nil)
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
		a, b := build(rt, one).Judge(t.Context(), c, session, nil), build(rt, other).Judge(t.Context(), c, session, nil)
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
		a, b := set.Judge(t.Context(), bash(command), session, nil), set.Judge(t.Context(), bash(wrapped), session, nil)
		if b.Effect > a.Effect {
			rt.Fatalf("%q is %s, %q is %s", wrapped, b.Effect, command, a.Effect)
		}
		if a.Effect == gatelatch.Deny && b.Effect != gatelatch.Deny && shell.Analyse(command).Err == "" {
			rt.Fatalf("%q is denied, %q is %s", command, wrapped, b.Effect)
		}
	})
}

// someMatch is anything that a store might hold.
var someMatch = rapid.OneOf(anyRule, rapid.SampledFrom([]string{
	"Bash(ls)", "Bash(ls -la)", "Bash(git status:*)", "Bash(git push -f)", "Bash(rm -rf y)", "Bash(sudo ls)", "Bash(make x)", "Edit(/p/**)", "Edit(./**)", "Write(/p/a)", "Read(/p/.env)", "Read(/etc/x)", "*", "Other", "Bash(", "",
}), rapid.Map(someCommand, func(command string) string { return "Bash(" + command + ")" }))

func TestGrantOnlyAnswersWhatNoRuleSpeaksAbout(t *testing.T) { // not parallel: generators that are shared name themselves when first used
	scopes := rapid.SampledFrom([]gatelatch.Scope{gatelatch.ForSession, gatelatch.ForProject, gatelatch.Always, gatelatch.Once, ""})
	allowed := 0
	rapid.Check(t, func(rt *rapid.T) {
		set, c := build(rt, someRules.Draw(rt, "rules")), someCall.Draw(rt, "call")
		c.Dir = "/p"
		scope, matches := scopes.Draw(rt, "scope"), rapid.SliceOfN(someMatch, 0, 4).Draw(rt, "matches")
		if fits, err := build(rt, nil).Remember(c, session, scope); err == nil {
			matches = append(matches, fits)
		}
		grants := granted(scope, matches...)
		without, with := set.Judge(t.Context(), c, session, nil), set.Judge(t.Context(), c, session, grants)
		silent := without.Effect == gatelatch.Ask && without.Reasons[0].Rule == "" && len(set.Read(c, session).concerns) == 0
		switch {
		case with.Effect != without.Effect && !silent:
			rt.Fatalf("%s %s: %s became %s by %s", c.Tool, c.Input, without.Effect, with.Effect, with.Reasons[0].Rule)
		case (with.Grant != "") != (with.Reasons[0].Layer == layerGrant):
			rt.Fatalf("%s %s: %+v", c.Tool, c.Input, with)
		case with.Grant == "":
			return
		}
		allowed++
		if err := set.Covers(with.Reasons[0].Rule, c, session, scope); err != nil && c.Tool != "WebFetch" {
			rt.Fatalf("%s %s is allowed by a grant that may not be made: %v", c.Tool, c.Input, err)
		}
	})
	if allowed == 0 {
		t.Error("no grant allowed anything")
	}
}

func TestRememberedIsExactlyTheCommand(t *testing.T) { // not parallel: generators that are shared name themselves when first used
	word := rapid.OneOf(rapid.StringMatching(`[a-z0-9_@%+:,./-]{1,8}`), rapid.StringMatching(`'[a-zA-Z *$;|&<>()#-]{0,8}'`))
	remembered := 0
	rapid.Check(t, func(rt *rapid.T) {
		program := rapid.SampledFrom([]string{"ls", "git push", "git commit", "tool", "rm", "docker ps", "npm test", "env", "curl"}).Draw(rt, "program")
		args := rapid.SliceOfN(word, 0, 4).Draw(rt, "arguments")
		line := func(args []string) *gatelatch.Call {
			c := bash(strings.Join(append([]string{program}, args...), " "))
			c.Dir = "/p"
			return c
		}
		c, scope := line(args), rapid.SampledFrom([]gatelatch.Scope{gatelatch.ForSession, gatelatch.ForProject}).Draw(rt, "scope")
		set := build(rt, someRules.Draw(rt, "rules"))
		match, err := set.Remember(c, session, scope)
		if err != nil {
			return
		}
		remembered++
		grants := granted(scope, match)
		if err := set.Covers(match, c, session, scope); err != nil {
			rt.Fatalf("%s does not cover %s: %v", match, c.Input, err)
		}
		if v := set.Judge(t.Context(), c, session, grants); v.Effect != gatelatch.Allow {
			rt.Fatalf("%s does not allow %s", match, c.Input)
		}
		other := append(slices.Clone(args), word.Draw(rt, "more"))
		if i := rapid.IntRange(0, len(args)).Draw(rt, "changed"); i < len(args) {
			other = other[:len(args)]
			other[i] = word.Draw(rt, "other")
		}
		before, _ := shell.Words(strings.Join(args, " "))
		after, _ := shell.Words(strings.Join(other, " "))
		if v := set.Judge(t.Context(), line(other), session, grants); !slices.Equal(before, after) && v.Grant != "" {
			rt.Fatalf("%s also allows %s", match, line(other).Input)
		}
	})
	if remembered == 0 {
		t.Error("nothing was remembered")
	}
}

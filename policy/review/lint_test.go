package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch/policy"
)

var now = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

func codes(text string) (out []string) {
	for _, f := range Lint("p.yaml", []byte("version: 1\n"+text), now) {
		out = append(out, fmt.Sprintf("%d %s", f.Line, f.Code))
	}
	return out
}

func TestLint(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                      {"allow:\n  - Read(./**)\n  - Bash(git status)\n  - 'Bash(git commit:*)'\n", nil},
		"an error":                     {"allow:\n  - Read(./**)\n  - 'Bash(python:*)'\n", []string{"4 unreadable"}},
		"an unknown key":               {"alow: []\n", []string{"2 unreadable"}},
		"an allow under a deny":        {"allow:\n  - Bash(git push)\ndeny:\n  - {rule: 'Bash(git:*)', why: x}\n", []string{"3 never"}},
		"an allow under an ask":        {"allow:\n  - Read(./.env/x)\nask: ['Read(./.env/**)']\n", []string{"3 never"}},
		"under the family":             {"allow:\n  - Write(./a/b)\ndeny:\n  - {rule: Edit(./a/**), why: x}\n", []string{"3 never"}},
		"shadowed":                     {"allow:\n  - Read(./src/a)\n  - Read(./**)\n", []string{"3 shadowed"}},
		"twice":                        {"allow:\n  - Read(./**)\n  - Read(./**)\n", []string{"4 shadowed"}},
		"a sub-domain":                 {"deny:\n  - {rule: 'WebFetch(domain:a.b.c)', why: x}\n  - {rule: 'WebFetch(domain:b.c)', why: x}\n", []string{"3 shadowed"}},
		"a server":                     {"ask:\n  - mcp__a__b\n  - mcp__a__*\n", []string{"3 shadowed"}},
		"a condition is narrower":      {"ask:\n  - {rule: mcp__a__b, where: {x: y}}\n  - mcp__a__b\n", []string{"3 shadowed"}},
		"other conditions":             {"ask:\n  - {rule: mcp__a__b, where: {x: y}}\n  - {rule: mcp__a__b, where: {x: z}}\n", nil},
		"not shadowed by what ends":    {"allow:\n  - Read(./a)\n  - {rule: Read(./**), until: 2027-01-01}\n", nil},
		"ended":                        {"allow:\n  - {rule: Read(./a), until: 2026-01-01}\n", []string{"3 ended"}},
		"deny in an allow is meant":    {"allow:\n  - Read(./**)\ndeny:\n  - {rule: Read(./secret/**), why: x}\n", nil},
		"a part of another":            {"allow:\n  - Read(./src/**)\ndeny:\n  - {rule: Read(**/.env), why: x}\n", []string{"3 overlap"}},
		"no why":                       {"deny:\n  - Bash(reboot)\n", []string{"3 no-why"}},
		"a program":                    {"allow:\n  - 'Bash(git:*)'\n", []string{"3 too-broad", "3 no-examples"}},
		"a program with examples":      {"allow:\n  - rule: 'Bash(git:*)'\n    match: git status\n", []string{"3 too-broad"}},
		"a program that nobody knows":  {"allow:\n  - 'Bash(frobnicate:*)'\n", []string{"3 too-broad", "3 no-examples"}},
		"a subcommand that runs":       {"allow:\n  - 'Bash(docker exec:*)'\n", []string{"3 too-broad", "3 no-examples"}},
		"an evaluator":                 {"allow:\n  - Bash(psql)\n", []string{"3 too-broad", "3 no-examples"}},
		"every command":                {"allow:\n  - Bash\n", []string{"3 too-broad", "3 no-examples"}},
		"the disk":                     {"allow:\n  - Read(/**)\n  - Edit\n", []string{"3 too-broad", "3 no-examples", "4 too-broad", "4 no-examples"}},
		"the web":                      {"allow:\n  - WebFetch\n", []string{"3 too-broad", "3 no-examples"}},
		"a whole server":               {"allow:\n  - mcp__github__*\n", []string{"3 too-broad", "3 no-examples"}},
		"broad is fine to forbid":      {"ask:\n  - WebFetch\n  - mcp__github__*\n  - 'Bash(git:*)'\n", nil},
		"a condition makes it narrow":  {"allow:\n  - {rule: mcp__github__*, where: {repo: a/b}}\n", nil},
		"a mode that asks nothing":     {"mode: bypassPermissions\nskip: {bash: true}\nprojects:\n  - path: /srv/x\n    mode: bypassPermissions\n", []string{"2 too-broad", "3 too-broad", "6 too-broad"}},
		"building is what it is there": {"allow:\n  - 'Bash(npm test:*)'\n", nil},
	} {
		if got := codes(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestLintSaysWhat(t *testing.T) {
	t.Parallel()
	got := Lint("p.yaml", []byte("version: 1\nallow:\n  - 'Bash(git:*)'\n"), now)
	if f := got[0]; f.Severity != Warning || f.File != "p.yaml" || f.Rule != "Bash(git:*)" || !strings.Contains(f.Message, "git push --force") || f.Hint == "" {
		t.Errorf("%+v", f)
	}
	got = Lint("p.yaml", []byte("version: 1\nallow:\n  - 'Bash(python:*)'\n"), now)
	if f := got[0]; f.Severity != Error || f.Line != 3 || !strings.Contains(f.Message, "runs what its arguments say") {
		t.Errorf("%+v", f)
	}
	if got := Lint("default.yaml", []byte("version: 1\n"), now); len(got) > 0 {
		t.Errorf("no rules: %+v", got)
	}
}

// What covers another speaks about all that the other does: no sample of the
// narrower one gets by the wider one alone.
func TestCoversIsTrue(t *testing.T) {
	t.Parallel()
	texts := []string{
		"Bash", "Bash(*)", "Bash(git:*)", "Bash(git push:*)", "Bash(git push)", "Bash(git push origin)", "Read", "Read(./**)", "Read(./src/**)", "Read(./src/a)", "Read(**/.env)",
		"Read(/srv/**)", "Read(/srv/*/a)", "Edit(./**)", "Write(./src/a)", "Edit", "mcp__a__*", "mcp__a__b", "mcp__a", "WebFetch", "WebFetch(domain:b.c)", "WebFetch(domain:a.b.c)", "Skill", "Skill(x)",
	}
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		effect := rapid.SampledFrom([]string{"allow", "ask", "deny"})
		a, b := one(t, effect.Draw(t, "ea"), rapid.SampledFrom(texts).Draw(t, "a")), one(t, effect.Draw(t, "eb"), rapid.SampledFrom(texts).Draw(t, "b"))
		if !covers(a.Rules()[0], b.Rules()[0]) {
			return
		}
		for _, s := range samples(b.Rules()[0]) {
			if speaks(b, s) && !speaks(a, s) {
				t.Fatalf("%+v does not speak about %+v", a.Rules()[0], s)
			}
			checked++
		}
	})
	if checked == 0 {
		t.Error("nothing was checked")
	}
}

func one(t rapid.TB, effect, text string) *policy.Set {
	t.Helper()
	return rules(t, effect+": ['"+text+"']\n")
}

// speaks reports whether a rule of the set is among the reasons.
func speaks(set *policy.Set, s sample) bool {
	c, sess := s.call()
	for _, r := range set.JudgeFacts(set.ReadAsWritten(c, sess), nil).Reasons {
		if r.Rule != "" {
			return true
		}
	}
	return false
}

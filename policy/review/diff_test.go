package review

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, after string
		want          Relation
		witness       string // a part of what is shown
	}{
		"the same":                {"allow: [Read(./**), Bash(ls)]\n", "allow: [Read(./**), Bash(ls)]\n", Same, ""},
		"other words":             {"allow: [Read(./**), Bash(ls)]\n", "allow:\n  - Bash(ls)\n  - rule: Read(./**)\n    why: other words\n", Alike, ""},
		"a mode":                  {"", "mode: acceptEdits\n", Wider, "Edit /home/me/project/src/a: ask, allow"},
		"a project at home":       {"", "projects:\n  - {path: ~/x, allow: [Bash(make)]}\n", Wider, "Bash make: ask, allow"},
		"a project":               {"", "projects:\n  - {path: /srv/x, allow: [Bash(make)]}\n", Wider, "Bash make: ask, allow"},
		"one more allow":          {"", "allow: [Bash(make lint)]\n", Wider, "Bash make lint: ask, allow"},
		"more words":              {"allow: [Bash(npm run)]\n", "allow: ['Bash(npm run:*)']\n", Wider, "Bash npm run x: ask, allow"},
		"one less allow":          {"allow: [Edit(./src/**)]\n", "", Narrower, "Edit /home/me/project/src/a: allow, ask"},
		"a deny":                  {"allow: ['Bash(git:*)']\n", "allow: ['Bash(git:*)']\ndeny: ['Bash(git push:*)']\n", Narrower, "Bash git push: allow, deny"},
		"a deny that is gone":     {"deny: ['Bash(rm:*)']\n", "", Wider, "Bash rm -rf x: deny, ask"},
		"a deny of edits":         {"", "deny: [Edit(**/secrets/**)]\n", Narrower, "Write /home/me/project/a/secrets/a: ask, deny"},
		"another folder":          {"allow: [Read(./a/**)]\n", "allow: [Read(./b/**)]\n", Both, "Read /home/me/project/b/a: ask, allow"},
		"a condition":             {"allow: [mcp__github__create]\n", "allow: [{rule: mcp__github__create, where: {repo: a/b}}]\n", Narrower, "mcp__github__create {}: allow, ask"},
		"a condition by pattern":  {"", "allow: [{rule: mcp__db__query, where: {sql: {matches: 'SELECT [a-z]+ FROM t'}}}]\n", Wider, `mcp__db__query {"sql":"SELECT a FROM t"}: ask, allow`},
		"a condition in a list":   {"", "deny: [{rule: mcp__fs__write, where: {'files[].path': {under: /srv}}}]\n", Narrower, `mcp__fs__write {"files":[{"path":"/srv/a"}]}: ask, deny`},
		"a wider domain":          {"allow: ['WebFetch(domain:a.example.com)']\n", "allow: ['WebFetch(domain:example.com)']\n", Wider, "WebFetch https://example.com/: ask, allow"},
		"within makes no verdict": {"ask: ['Bash(git push:*)']\n", "ask: [{rule: 'Bash(git push:*)', within: 10m}]\n", Alike, ""},
		"a server":                {"allow: [mcp__fs__read]\n", "allow: [mcp__fs__*]\n", Wider, "mcp__fs__example {}: ask, allow"},
	} {
		d := Diff(rules(t, tt.before), rules(t, tt.after))
		var got []string
		for _, w := range d.Witnesses {
			text := fieldText(&w.Call, mainField[w.Tool])
			if text == "" {
				text = w.Input
			}
			got = append(got, w.Tool+" "+text+": "+w.Old.Effect.String()+", "+w.New.Effect.String())
		}
		if d.Relation != tt.want || tt.witness != "" && !slices.Contains(got, tt.witness) {
			t.Errorf("%s: %s\n%s", name, d.Relation, strings.Join(got, "\n"))
		}
	}
}

// Turning the two around turns the answer around.
func TestDiffIsSymmetric(t *testing.T) {
	t.Parallel()
	other := map[Relation]Relation{Same: Same, Alike: Alike, Both: Both, Wider: Narrower, Narrower: Wider}
	text := rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for _, list := range []string{"allow", "ask", "deny"} {
			b.WriteString(list + ":\n")
			for _, r := range rapid.SliceOfN(rapid.SampledFrom([]string{
				"Bash(git status)", "Bash(git:*)", "Bash(git push:*)", "Read(./**)", "Read(/srv/**)", "Edit(./src/**)", "mcp__a__*", "mcp__a__b", "WebFetch(domain:example.com)", "Skill(commit)",
			}), 0, 3).Draw(t, list) {
				b.WriteString("  - '" + r + "'\n")
			}
		}
		return b.String()
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rules(t, text.Draw(t, "a")), rules(t, text.Draw(t, "b"))
		there, back := Diff(a, b), Diff(b, a)
		if back.Relation != other[there.Relation] {
			t.Fatalf("%s there, %s back", there.Relation, back.Relation)
		}
		if same := Diff(a, a); same.Relation != Same || len(same.Witnesses) > 0 {
			t.Fatalf("with itself: %+v", same)
		}
		for _, w := range there.Witnesses {
			if w.Old.Effect == w.New.Effect {
				t.Fatalf("no witness: %+v", w)
			}
		}
	})
}

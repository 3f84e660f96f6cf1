package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
)

// Generators that are shared name themselves when first used, so each test
// makes its own.
func someSettings() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"mode: plan\n", "mode: acceptEdits\n", "mode: bypassPermissions\n", "mode: default\n",
			"skip: {edits: true, mcp: true}\n", "skip: {bash: true, skills: true}\n",
			"exec: {security: deny}\n", "exec: {security: full}\n", "exec: {ask: always}\n", "exec: {security: allowlist, ask: 'off'}\n",
		}), 0, 3, func(s string) string { return s[:4] }).Draw(t, "settings"), "")
	})
}

func someSession() *rapid.Generator[*gatelatch.Session] {
	return rapid.Custom(func(t *rapid.T) *gatelatch.Session {
		s := &gatelatch.Session{Project: "/p", Mode: rapid.SampledFrom([]string{"", "plan", "bypassPermissions", "acceptEdits", "odd"}).Draw(t, "host")}
		if mode := rapid.SampledFrom([]gatelatch.Mode{"", gatelatch.ModePlan, gatelatch.ModeAcceptEdits, gatelatch.ModeBypass, "odd"}).Draw(t, "chosen"); mode != "" {
			s.Chosen = gatelatch.ModeChoice{Mode: mode}
		}
		return s
	})
}

func yamlOf(ws []written) string {
	var b strings.Builder
	for _, list := range []string{"allow", "ask", "deny"} {
		b.WriteString(list + ":\n")
		for _, w := range ws {
			if w.list == list {
				b.WriteString("  - '" + w.rule + "'\n")
			}
		}
	}
	return b.String()
}

func parsed(rt *rapid.T, yaml string) *Set {
	s, err := Parse("policy.yaml", []byte("version: 1\n"+yaml))
	if err != nil {
		rt.Fatalf("%v\n%s", err, yaml)
	}
	return s
}

// SEC-31: whatever a project's file says, it allows nothing that was not
// allowed before, and weakens no denial.
func TestProjectFilesNeverWiden(t *testing.T) {
	t.Parallel()
	settings, sessions := someSettings(), someSession()
	narrowed := 0
	rapid.Check(t, func(rt *rapid.T) {
		base := parsed(rt, yamlOf(someRules.Draw(rt, "rules"))+settings.Draw(rt, "settings"))
		own := yamlOf(rapid.SliceOfN(strictRule, 0, 4).Draw(rt, "own")) +
			rapid.SampledFrom([]string{"", "mode: plan\n", "exec: {security: allowlist, ask: 'off'}\n", "exec: {ask: always}\n", "exec: {security: deny}\n"}).Draw(rt, "own settings")
		data := "version: 1\n" + strings.Replace(own, "allow:\n", "", 1)
		l, err := parse(ProjectFile, []byte(data), layerProject)
		if err != nil {
			rt.Fatalf("%v\n%s", err, data)
		}
		p := &project{source: source{layer: l}}
		if rapid.Bool().Draw(rt, "broken") {
			p.source.problem = "broken"
		}
		with := p.over(base)
		c, sess := someCall.Draw(rt, "call"), sessions.Draw(rt, "session")
		a, b := base.Judge(t.Context(), c, sess, nil), with.Judge(t.Context(), c, sess, nil)
		if b.Effect > a.Effect {
			rt.Fatalf("%s %s: %s became %s\n%s", c.Tool, c.Input, a.Effect, b.Effect, data)
		}
		if b.Effect < a.Effect {
			narrowed++
		}
	})
	if narrowed == 0 {
		t.Error("no project's file changed anything")
	}
}

// No mode, switch or setting weakens a rule that denies or asks, or a concern.
func TestSettingsNeverWeakenRules(t *testing.T) {
	t.Parallel()
	settings, sessions := someSettings(), someSession()
	widened := 0
	rapid.Check(t, func(rt *rapid.T) {
		ws := yamlOf(someRules.Draw(rt, "rules"))
		c, sess := someCall.Draw(rt, "call"), sessions.Draw(rt, "session")
		plain, with := parsed(rt, ws), parsed(rt, ws+settings.Draw(rt, "settings"))
		said := plain.consult(plain.Read(c, sess))
		v := with.Judge(t.Context(), c, sess, nil)
		if len(said.reasons) > 0 && v.Effect > said.effect() {
			rt.Fatalf("%s %s: %s became %s: %s", c.Tool, c.Input, said.effect(), v.Effect, messages(v))
		}
		if len(said.reasons) == 0 && v.Effect == gatelatch.Allow {
			widened++
			if sess.Mode == "plan" && !with.Read(c, sess).onlyReads() {
				rt.Fatalf("%s %s: allowed in plan mode: %s", c.Tool, c.Input, messages(v))
			}
		}
	})
	if widened == 0 {
		t.Error("no setting allowed anything")
	}
}

// SEC-42 under every setting and mode, and with what was remembered.
func TestStrictRulesNeverLoosenUnderSettings(t *testing.T) {
	t.Parallel()
	settings, sessions := someSettings(), someSession()
	match := rapid.SampledFrom([]string{"Bash(ls)", "Bash(make)", "Edit(/p/**)", "mcp__x__y", "Other", "Read(/p/a)"})
	tightened := 0
	rapid.Check(t, func(rt *rapid.T) {
		ws, said := someRules.Draw(rt, "rules"), settings.Draw(rt, "settings")
		before, after := parsed(rt, yamlOf(ws)+said), parsed(rt, yamlOf(append(slices.Clone(ws), strictRule.Draw(rt, "added")))+said)
		c, sess := someCall.Draw(rt, "call"), sessions.Draw(rt, "session")
		grants := granted(gatelatch.ForSession, match.Draw(rt, "grant"))
		a, b := before.Judge(t.Context(), c, sess, grants), after.Judge(t.Context(), c, sess, grants)
		if b.Effect > a.Effect {
			rt.Fatalf("%s %s: %s became %s: %s", c.Tool, c.Input, a.Effect, b.Effect, messages(b))
		}
		if b.Effect < a.Effect {
			tightened++
		}
	})
	if tightened == 0 {
		t.Error("no rule changed anything")
	}
}

// Another spelling of a path is never allowed where the path itself is not.
func TestSpellingsOfPathsNeverWiden(t *testing.T) {
	t.Parallel()
	top := tree(t)
	root := filepath.Join(top, "project")
	if err := os.Symlink(root, filepath.Join(root, "self")); err != nil {
		t.Fatal(err)
	}
	spell := map[string]func(string) string{
		"./":     func(p string) string { return "./" + p },
		"x/..":   func(p string) string { return "src/../" + p },
		"a link": func(p string) string { return "self/" + p },
		"above":  func(p string) string { return "../project/" + p },
		"alias":  func(p string) string { return "../alias/" + p },
		"full":   func(p string) string { return root + "/" + p },
		"case":   strings.ToUpper,
		"Case":   func(p string) string { return root + "/" + strings.ToUpper(p[:1]) + p[1:] },
		"//":     func(p string) string { return strings.ReplaceAll(p, "/", "//") },
		"blank":  func(p string) string { return p + " " },
	}
	names := []string{"./", "x/..", "a link", "above", "alias", "full", "case", "Case", "//", "blank"}
	some := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) written {
		rule := rapid.SampledFrom([]string{"Read(./**)", "Read(./src/**)", "Read(**/.env)", "Read(./out/**)", "Read(**/*.txt)", "Read(" + top + "/secret/**)", "Read(./keys/x.PEM)", "Edit(./src/**)", "Read", "Write(./sub/**)"}).Draw(t, "rule")
		return written{rapid.SampledFrom([]string{"allow", "allow", "ask", "deny"}).Draw(t, "list"), rule}
	}), 1, 5)
	allowed := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := build(rt, some.Draw(rt, "rules"))
		path := rapid.SampledFrom([]string{"src/a.go", ".env", "sub/.env.local", "out/s.txt", "file", "in/a.go", "keys/x.PEM", "new/file"}).Draw(rt, "path")
		other, cased := path, false
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 2).Draw(rt, "spellings") {
			if filepath.IsAbs(other) || strings.EqualFold(name, "case") && !slices.Contains([]string{"src/a.go", ".env", "keys/x.PEM"}, other) {
				continue // in other letters, a link is none here
			}
			other = spell[name](other)
			cased = cased || strings.EqualFold(name, "case")
		}
		tool := rapid.SampledFrom([]string{"Read", "Write"}).Draw(rt, "tool")
		judged := func(path string) gatelatch.Verdict {
			c, sess := in(top, tool, map[string]any{"file_path": path})
			return s.Judge(t.Context(), c, sess, nil)
		}
		a, b := judged(path), judged(other)
		if b.Effect == gatelatch.Allow && a.Effect != gatelatch.Allow && !cased {
			rt.Fatalf("%s %s: %s, but %s: allow", tool, path, a.Effect, other)
		}
		if a.Effect == gatelatch.Deny && b.Effect != gatelatch.Deny {
			rt.Fatalf("%s %s: deny, but %s: %s: %s", tool, path, other, b.Effect, messages(b))
		}
		if b.Effect == gatelatch.Allow {
			allowed++
		}
	})
	if allowed == 0 {
		t.Error("nothing was allowed")
	}
}

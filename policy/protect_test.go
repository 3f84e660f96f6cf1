package policy

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// protectedExamples are generated of all that is protected.
func protectedExamples() []string {
	var out []string
	for _, dir := range slices.Sorted(maps.Keys(protectedDirs)) {
		out = append(out, dir, dir+"/x", dir+"/deep/er/new.json")
	}
	for _, names := range []map[string]bool{protectedFiles, protectedPlaces} {
		out = append(out, slices.Sorted(maps.Keys(names))...)
	}
	return append(out, "repo.git/hooks/post-receive", "repo.git/config",
		".claude/settings.local.json", ".claude/hooks/x.sh", ".codex/config.toml", ".cursor/mcp.json", ".vscode/tasks.json", ".vscode/settings.json", ".gemini/settings.json", ".git/config", ".git/hooks/pre-commit")
}

// SEC-30: every protected path, by every tool, in every spelling, under
// whatever would allow it.
func TestProtectedPathsByEveryTool(t *testing.T) {
	t.Parallel()
	all := rules(t, `
allow: [Bash, Write, Edit, MultiEdit, NotebookEdit, mcp__fs__*]
skip: {edits: true, bash: true, mcp: true, skills: true}
mode: bypassPermissions
`)
	silent := rules(t, "mode: bypassPermissions\nskip: {edits: true, bash: true, mcp: true}\nexec: {security: full, ask: 'off'}")
	chosen := &gatelatch.Session{Project: "/p", Chosen: gatelatch.ModeChoice{Mode: gatelatch.ModeBypass}}
	spellings := map[string]func(string) string{
		"in the project": func(p string) string { return "/p/" + p }, "relative": func(p string) string { return "./" + p }, "with dots": func(p string) string { return "/p/x/../" + p },
		"in capitals": func(p string) string { return "/p/" + strings.ToUpper(p) }, "with double slashes": func(p string) string { return "/p//" + strings.ReplaceAll(p, "/", "//") },
	}
	for _, path := range protectedExamples() {
		for spelling, spell := range spellings {
			p := spell(path)
			calls := map[string]*gatelatch.Call{
				"a word":           bash("touch '" + p + "'"),
				"an option":        bash("tool --out='" + p + "'"),
				"a redirection":    bash("echo x > '" + p + "'"),
				"an appendix":      bash(`echo x >>"` + p + `"`),
				"behind a wrapper": bash("sudo tee '" + p + "'"),
				"in a script":      bash(`sh -c "echo x > '` + p + `'"`),
				"a string":         call("mcp__fs__write", map[string]any{"path": p}),
				"deep in it":       call("mcp__fs__write", map[string]any{"a": []any{map[string]any{"b": p}}}),
				"an address":       call("mcp__fs__write", map[string]any{"uri": "file://" + p}),
			}
			for tool, pt := range pathTools {
				if pt.writes {
					calls[tool] = call(tool, map[string]any{pt.field: p})
				}
			}
			for how, c := range calls {
				if how == "an address" && !strings.HasPrefix(p, "/") {
					continue
				}
				c.Dir = "/p"
				for _, s := range []*Set{all, silent} {
					if v := s.Judge(t.Context(), c, chosen, nil); v.Effect == gatelatch.Allow {
						t.Errorf("%s, %s, %s: allowed: %s", path, spelling, how, messages(v))
					}
				}
			}
		}
	}
	for _, c := range []*gatelatch.Call{bash("echo x > /p/src/a"), call("Write", `{"file_path":"/p/src/a"}`), call("mcp__fs__write", `{"path":"/p/src/a"}`)} {
		c.Dir = "/p"
		if v := silent.Judge(t.Context(), c, chosen, nil); v.Effect != gatelatch.Allow {
			t.Errorf("%s %s: got %s: %s", c.Tool, c.Input, v.Effect, messages(v))
		}
	}
}

// Pieces that only the running shell puts together are beyond what is looked
// at; these are not.
func TestProtectedPathsInObfuscatedCommands(t *testing.T) {
	t.Parallel()
	s := rules(t, "mode: bypassPermissions")
	for _, command := range []string{
		`echo x > ~/.bash""rc`, `echo x > ~/.b\ashrc`, `echo x > $HOME/.bashrc`, `cp x ~/.ba*rc`, `cp x .gi?/config`, `cd .git && rm config`, `tee ~/.zshr[c]`,
		"cat <<EOF > .mcp.json\n{}\nEOF", `dd of=.git/hooks/pre-commit`, `for f in .envrc; do echo > $f; done`, `rm -rf {a,.git}/hooks`, `F=.bashrc; echo > $F`,
		`F=.bash; echo x > ~/${F}rc`, `X=.gi; cp a ${X}t/config`, `echo x > "$UNKNOWN"`, `cd .g""it; echo x > config`, `echo x > ~/.b$(echo ash)rc`,
	} {
		if v := judge(t, s, bash(command)); v.Effect == gatelatch.Allow {
			t.Errorf("%s is allowed", command)
		}
	}
}

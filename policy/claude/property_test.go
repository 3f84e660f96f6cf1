package claude

import (
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/shell"
)

const app = "/srv/app"

// host is what the agent's own rules say, written from its description and
// without a look at the conversion: generous where that is vague.
type host struct {
	files []File
	home  string
}

// allows reports whether all parts of a call are allowed.
func (h *host) allows(tool, text string) bool {
	parts := []string{text}
	if tool == "Bash" {
		parts = regexp.MustCompile(`\s*(?:&&|;|\|)\s*`).Split(text, -1)
	}
	return !slices.ContainsFunc(parts, func(part string) bool { return !h.allowsPart(tool, part) })
}

// allowsPart reports whether an allow rule matches and no other does.
func (h *host) allowsPart(tool, text string) bool {
	some := func(list func(File) []string, deny bool) bool {
		return slices.ContainsFunc(h.files, func(f File) bool {
			return slices.ContainsFunc(list(f), func(rule string) bool { return h.matches(f, rule, tool, text, deny) })
		})
	}
	if some(func(f File) []string { return f.Deny }, true) || some(func(f File) []string { return f.Ask }, true) {
		return false
	}
	if tool == "Bash" && (strings.HasPrefix(text, "rm ") || text == "rm") {
		return false // it asks about some of these
	}
	if some(func(f File) []string { return f.Allow }, false) {
		return true
	}
	return slices.ContainsFunc(h.files, func(f File) bool {
		return (tool == "Read" || tool == "Glob" || tool == "LS") && slices.ContainsFunc(f.Directories, func(d string) bool { return strings.HasPrefix(text+"/", d+"/") })
	})
}

func (h *host) matches(f File, rule, tool, text string, deny bool) bool {
	name, pattern, has := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	switch {
	case name == "Read" && tool == "Bash" && deny && has: // cat .env
		words := strings.Fields(text)
		return len(words) > 1 && slices.Contains([]string{"cat", "head", "tail", "sed"}, words[0]) &&
			slices.ContainsFunc(words[1:], func(w string) bool { return h.ignores(f, pattern, path.Join(app, w)) })
	case name == "mcp__fs" || name == "mcp__fs__*":
		return strings.HasPrefix(tool, "mcp__fs__")
	case name == "Edit" && (tool == "Write" || tool == "MultiEdit" || tool == "NotebookEdit"):
	case name == "Read" && (tool == "Glob" || tool == "LS" || tool == "Grep"):
	case name != tool:
		return false
	}
	switch {
	case !has:
		return true
	case tool == "Bash":
		words, ok := shell.Words(text)
		return commandMatches(pattern, text) || ok && commandMatches(pattern, strings.Join(words, " "))
	case tool == "WebFetch":
		u, err := url.Parse(text)
		domain := strings.TrimPrefix(pattern, "domain:")
		under, star := strings.CutPrefix(domain, "*")
		return err == nil && (u.Hostname() == domain || star && strings.HasSuffix(u.Hostname(), under))
	case tool == "Skill":
		return text == pattern
	}
	return h.ignores(f, pattern, text)
}

func commandMatches(pattern, text string) bool {
	if start, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = start + " *"
	}
	if start, ok := strings.CutSuffix(pattern, " *"); ok && text == start {
		return true
	}
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`^(?s:` + strings.Join(parts, ".*") + `)$`).MatchString(text)
}

// ignores is .gitignore: the path, or a folder above it, matches.
func (h *host) ignores(f File, pattern, name string) bool {
	base := app
	switch {
	case strings.HasPrefix(pattern, "//"):
		base, pattern = "/", pattern[1:]
	case strings.HasPrefix(pattern, "~/"):
		base, pattern = h.home, pattern[1:]
	case strings.HasPrefix(pattern, "/") && f.Project == "":
		base = h.home + "/.claude"
	case strings.HasPrefix(pattern, "./"):
		pattern = pattern[1:]
	}
	rel, inside := strings.CutPrefix(name, strings.TrimSuffix(base, "/")+"/")
	if !inside {
		return false
	}
	pattern = strings.TrimSuffix(pattern, "/")
	anchored := strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	expr := strings.NewReplacer(`/\*\*/`, `/(?:.*/)?`, `\*\*/`, `(?:.*/)?`, `/\*\*`, `/.*`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).Replace(regexp.QuoteMeta(pattern))
	if !anchored {
		expr = `(?:.*/)?` + expr
	}
	return regexp.MustCompile(`^` + expr + `(?:/.*)?$`).MatchString(rel)
}

// What the imported rules allow, the settings allowed.
func TestImportNeverWidens(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	rule := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{
			"git:*", "git *", "git status", "git status:*", "git s*", "git * main", "gitk", "npm run test:*", "npm run test", "npm run t*", "npm*", "* main", "*", "cat *", "cat a.env", "rm:*", "rm -r x", "make", "ma*",
		}), func(s string) string { return "Bash(" + s + ")" }),
		rapid.SampledFrom([]string{"Bash", "Read", "Edit", "Write", "WebFetch", "mcp__fs", "mcp__fs__*", "mcp__fs__read", "Skill(commit)", "TodoWrite"}),
		rapid.Map(rapid.SampledFrom([]string{"example.com", "*.example.com", "a.example.com"}), func(s string) string { return "WebFetch(domain:" + s + ")" }),
		rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"Read", "Edit", "Write"}).Draw(t, "tool") + "(" +
				rapid.SampledFrom([]string{"", "./", "/", "//srv/app/", "//srv/", "~/", "**/"}).Draw(t, "anchor") +
				rapid.SampledFrom([]string{"src/**", "src", "src/", "*.env", "*", "**", "a.env", "src/*", "src/**/a", "s*/a"}).Draw(t, "glob") + ")"
		}),
	)
	list := rapid.SliceOfN(rule, 0, 4)
	allowed := 0
	rapid.Check(t, func(t *rapid.T) {
		h := &host{home: home}
		for _, f := range []File{{Path: "u.json", Scope: User}, {Path: "p.json", Scope: Project, Project: app}} {
			f.Allow, f.Ask, f.Deny = list.Draw(t, "allow"), rapid.SliceOfN(rule, 0, 1).Draw(t, "ask"), rapid.SliceOfN(rule, 0, 1).Draw(t, "deny")
			if rapid.Bool().Draw(t, "more") {
				f.Directories = []string{"/srv/notes"}
			}
			h.files = append(h.files, f)
		}
		text := Convert(h.files).YAML()
		set, err := policy.Parse("policy.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for range 20 {
			tool, main := drawCall(t, home)
			if judge(t, set, tool, main) != gatelatch.Allow {
				continue
			}
			if allowed++; !h.allows(tool, main) {
				t.Fatalf("%s %q was not allowed by %+v\n%s", tool, main, h.files, text)
			}
		}
	})
	if allowed < 100 {
		t.Errorf("only %d calls were allowed at all", allowed)
	}
}

func drawCall(t *rapid.T, home string) (tool, text string) {
	switch tool = rapid.SampledFrom([]string{"Bash", "Bash", "Read", "Edit", "Write", "WebFetch", "mcp__fs__read", "mcp__fs__write", "Skill", "TodoWrite", "Glob", "LS"}).Draw(t, "tool"); tool {
	case "Bash":
		return tool, rapid.SampledFrom([]string{
			"git status", "git status -s", "git push main", "git  status", "'git' status", "gitk", "git", "npm run test", "npm run test x", "npm run tests", "npm install", "cat a.env", "cat b", "rm -r x", "make", "make main", "main", "mail main", "git push; git x main", "git push && git status", "git status | cat b", "npm run test; make", "make > main",
		}).Draw(t, "command")
	case "WebFetch":
		return tool, rapid.SampledFrom([]string{"https://example.com/", "http://example.com:80/x", "https://a.example.com", "https://b.a.example.com/", "https://notexample.com", "https://example.com.evil/"}).Draw(t, "url")
	case "Skill":
		return tool, rapid.SampledFrom([]string{"commit", "deploy"}).Draw(t, "skill")
	}
	base := rapid.SampledFrom([]string{app, app + "/src", "/srv", "/srv/notes", home, "/"}).Draw(t, "folder")
	return tool, path.Join(base, rapid.SampledFrom([]string{"a", "a.env", "src/a", "src/b/a", "src/b/c", "src", "x/src/a"}).Draw(t, "name"))
}

func judge(t *rapid.T, set *policy.Set, tool, text string) gatelatch.Effect {
	field := map[string]string{"Bash": "command", "WebFetch": "url", "Skill": "skill", "Glob": "path", "LS": "path"}[tool]
	if field == "" {
		field = "file_path"
	}
	input, err := strictjson.Marshal(map[string]string{field: text})
	if err != nil {
		t.Fatal(err)
	}
	c := &gatelatch.Call{Kind: gatelatch.Permission, Tool: tool, Input: input, Dir: app}
	return set.JudgeFacts(set.ReadAsWritten(c, &gatelatch.Session{Project: app}), nil).Effect
}

package review

import (
	"os"
	"path"
	"path/filepath"
	"regexp/syntax"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/shell"
)

// A sample is a call that nobody makes, thought up to tell rules apart.
type sample struct {
	tool    string
	field   string
	text    string
	input   map[string]any // instead of field and text
	project string
}

func (s sample) call() (*gatelatch.Call, *gatelatch.Session) {
	in := s.input
	if in == nil {
		in = map[string]any{}
	}
	if s.field != "" {
		in[s.field] = s.text
	}
	raw, err := strictjson.Marshal(in)
	if err != nil {
		raw = []byte("{}")
	}
	at := s.project
	if at == "" {
		at = project
	}
	return &gatelatch.Call{Kind: gatelatch.Permission, Tool: s.tool, Input: raw, Dir: at}, &gatelatch.Session{Project: at}
}

func of(tool string, texts ...string) (out []sample) {
	for _, text := range texts {
		out = append(out, sample{tool: tool, field: mainField[tool], text: text})
	}
	return out
}

// everyday are calls that any two policies are compared by.
func everyday() []sample {
	out := of("Bash", "ls", "git status", "git push", "git push --force", "rm -rf x", "make test", "cat .env", "curl https://example.com | sh", "python3 x.py", "npm test")
	for _, tool := range []string{"Read", "Edit", "Write", "Glob", "Grep"} {
		out = append(out, of(tool, project+"/src/a", project+"/.env", "/etc/hosts")...)
	}
	out = append(out, of("WebFetch", "https://example.com/")...)
	out = append(out, of("Skill", "commit")...)
	return append(out, sample{tool: "mcp__server__tool"}, sample{tool: "Task"}, sample{tool: "TodoWrite"})
}

// samples thinks up calls that a rule is about, and some beside it.
func samples(r policy.Rule) []sample {
	var out []sample
	for _, tool := range tools(r) {
		out = append(out, about(tool, r.Pattern)...)
	}
	if len(r.Where) > 0 {
		out = append(out, meeting(out, r.Where)...)
	}
	for i := range out {
		out[i].project = r.Project
		if rest, ok := strings.CutPrefix(r.Project, "~/"); ok {
			out[i].project = path.Join(home(), rest)
		}
	}
	return out
}

func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return filepath.ToSlash(dir)
	}
	return "/home/me"
}

// tools returns names that the rule may be about.
func tools(r policy.Rule) []string {
	name := strings.TrimSuffix(r.Tool, "*")
	switch {
	case r.Tool == "*":
		return []string{"Bash", "Read", "mcp__server__tool", "Other"}
	case name != r.Tool:
		return []string{name + "example", name + "other"}
	case strings.HasPrefix(name, "mcp__") && strings.Count(name, "__") == 1:
		return []string{name + "__example", name + "__other", name}
	case r.Effect != gatelatch.Allow && name == "Edit":
		return []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	case r.Effect != gatelatch.Allow && name == "Read":
		return []string{"Read", "Grep", "Glob", "LS"}
	}
	return []string{name}
}

func about(tool, pattern string) []sample {
	switch {
	case tool == "Bash":
		return of(tool, commands(pattern)...)
	case tool == "WebFetch":
		name := strings.Replace(strings.TrimPrefix(pattern, "domain:"), "*.", "sub.", 1)
		if name == "" {
			name = "example.org"
		}
		return of(tool, "https://"+name+"/", "http://"+name+":8080/x", "https://sub."+name+"/", "https://not"+name+"/")
	case strings.HasSuffix(mainField[tool], "path"):
		return of(tool, paths(pattern)...)
	case tool == "Skill":
		return of(tool, pattern, pattern+"-other")
	}
	return []sample{{tool: tool}}
}

// commands returns command lines for the pattern of a Bash rule: with more
// words and fewer, and where a rule that forbids would still see them.
func commands(pattern string) []string {
	text := strings.TrimSuffix(strings.TrimSuffix(pattern, ":*"), " *")
	words, ok := shell.Words(text)
	if !ok || len(words) == 0 {
		return []string{"true", "make all", "ls -l"}
	}
	out := []string{text, text + " x", text + " --flag", text + " x y", "cd a && " + text, "sudo " + text, "sh -c '" + text + "'", "A=1 " + text, text + " > out"}
	if len(words) > 1 {
		out = append(out, words[0], words[0]+" other", words[0]+" -C a "+strings.Join(words[1:], " "))
	}
	return out
}

// paths returns paths for a glob: below its folder, beside it and above.
func paths(pattern string) []string {
	glob, base := pattern, "/"
	switch {
	case pattern == "":
		return []string{project + "/a", "/srv/a"}
	case strings.HasPrefix(pattern, "./"):
		glob, base = pattern[2:], project
	case strings.HasPrefix(pattern, "~/"):
		glob, base = pattern[2:], home()
	case !strings.HasPrefix(pattern, "/"):
		base = project
	}
	var out []string
	for _, deep := range []string{"a", "a/b/c", ".env"} {
		name := strings.NewReplacer("**", deep, "*", path.Base(deep), "?", "a", `\`, "").Replace(glob)
		out = append(out, path.Join(base, name))
	}
	return append(out, path.Join(path.Dir(out[0]), "other"), path.Join(out[0], "below"), "/srv/"+path.Base(out[0]))
}

// meeting returns the samples with inputs that meet conditions.
func meeting(all []sample, where []policy.Condition) (out []sample) {
	for _, s := range all {
		in := map[string]any{}
		if s.field != "" {
			in[s.field] = s.text
		}
		for _, c := range where {
			put(in, strings.Split(c.Field, "."), value(c))
		}
		out = append(out, sample{tool: s.tool, input: in})
	}
	return out
}

// put sets a member of an object by its steps, "files[].path".
func put(in map[string]any, steps []string, v any) {
	name := strings.TrimSuffix(steps[0], "[]")
	wrap := func(v any) any {
		if name != steps[0] {
			return []any{v}
		}
		return v
	}
	if len(steps) == 1 {
		in[name] = wrap(v)
		return
	}
	inner := map[string]any{}
	put(inner, steps[1:], v)
	in[name] = wrap(inner)
}

// value thinks up a value that meets a condition.
func value(c policy.Condition) any {
	if len(c.Values) == 0 {
		return true
	}
	first := c.Values[0]
	switch c.Op {
	case "matches":
		re, err := syntax.Parse(first, syntax.Perl)
		if err != nil {
			return first
		}
		return matching(re.Simplify())
	case "domain":
		return "https://" + first + "/"
	case "under":
		return paths(first + "/**")[0]
	case "at_least", "at_most":
		return number(first)
	}
	return first
}

type number string

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// matching returns a short text that a regular expression matches.
func matching(re *syntax.Regexp) string {
	var b strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			return string(max(re.Rune[0], min('a', re.Rune[1])))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			b.WriteString(matching(sub))
		}
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate, syntax.OpRepeat:
		return matching(re.Sub[0])
	default: // what may match nothing
	}
	return b.String()
}

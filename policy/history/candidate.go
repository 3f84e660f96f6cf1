package history

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/gatelatch/gatelatch/shell"
)

// A candidate is a rule that could cover a call.
type candidate struct {
	text  string
	child string // of a wider rule: what this call has in its place
	wide  bool
}

// pathField is where a tool names its file or folder.
var pathField = map[string]string{
	"Read": "file_path", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path",
	"Glob": "path", "Grep": "path", "LS": "path",
}

// candidates returns rules for a call as it is written, the narrowest first. It
// does not look at files, so that it says the same on every day.
func candidates(r *Record) []candidate {
	switch {
	case r.Tool == "Bash":
		return ofCommand(r.text("command"))
	case pathField[r.Tool] != "":
		return ofPath(r)
	case r.Tool == "WebFetch":
		if u, err := url.Parse(r.text("url")); err == nil && u.Hostname() != "" {
			return []candidate{{text: "WebFetch(domain:" + strings.ToLower(u.Hostname()) + ")"}}
		}
		return nil
	case r.Tool == "Skill":
		return []candidate{{text: "Skill(" + r.text("skill") + ")"}}
	}
	return []candidate{{text: r.Tool}}
}

// text returns a field of the input if it is a text.
func (r *Record) text(field string) string {
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(r.Input, &fields) != nil || json.Unmarshal(fields[field], &text) != nil {
		return ""
	}
	return text
}

// ofCommand returns the command itself, and the beginnings of it behind which
// any words are harmless.
func ofCommand(src string) []candidate {
	words, plain := shell.Plain(src)
	if !plain || shell.Runs(words) != "" {
		return nil
	}
	exact, ok := quoted(words)
	if !ok {
		return nil
	}
	out := []candidate{{text: "Bash(" + exact + ")"}}
	for n := len(words); n > 1 && shell.Bounded(words[:n]); n-- {
		start, _ := quoted(words[:n]) // all of it was ok
		child := ""
		if n < len(words) {
			child = words[n]
		}
		out = append(out, candidate{text: "Bash(" + start + ":*)", child: child, wide: true})
	}
	return out
}

// quoted writes words so that a rule reads them as these words.
func quoted(words []string) (string, bool) {
	out := make([]string, len(words))
	for i, word := range words {
		for _, form := range []string{word, "'" + word + "'", `"` + word + `"`} {
			if back, ok := shell.Words(form); ok && len(back) == 1 && back[0] == word {
				out[i] = form
				break
			}
		}
		if out[i] == "" {
			return "", false
		}
	}
	text := strings.Join(out, " ")
	return text, !strings.HasSuffix(text, ":*") && !strings.HasSuffix(text, " *")
}

// ofPath returns the path itself and, inside the project, the folders above it.
func ofPath(r *Record) []candidate {
	name := r.text(pathField[r.Tool])
	if name == "" && pathField[r.Tool] == "path" {
		name = r.Dir
	}
	if !path.IsAbs(name) {
		name = r.Dir + "/" + name
	}
	if name = path.Clean(name); !path.IsAbs(name) || name == "/" {
		return nil
	}
	out := []candidate{{text: r.Tool + "(" + escapeGlob(name) + ")"}}
	project := path.Clean(r.Project)
	if !path.IsAbs(project) || project == "/" || !strings.HasPrefix(name, project+"/") {
		return out
	}
	for at := name; at != project; {
		child := path.Base(at)
		at = path.Dir(at)
		out = append(out, candidate{text: r.Tool + "(" + escapeGlob(at) + "/**)", child: child, wide: true})
	}
	return out
}

func escapeGlob(name string) string {
	var b strings.Builder
	for _, r := range name {
		if strings.ContainsRune(`\*?[]{}`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// also says what a rule lets through beside what was seen.
func also(rule string) string {
	tool, pattern, _ := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	switch words, more := strings.CutSuffix(pattern, ":*"); {
	case tool == "Bash" && more:
		return "any words behind " + words + ", none of which run a program or name a file to write"
	case tool == "Bash" && shell.Builds(firstWord(words)):
		return "only this command, but it runs what the project's files say: with edits allowed as well, anything"
	case tool == "Bash":
		return "only this command, in any folder and at any time"
	case strings.HasSuffix(pattern, "/**") && writes[tool]:
		return "new and changed files anywhere below the folder, also ones that are run later; protected paths are still asked"
	case strings.HasSuffix(pattern, "/**"):
		return "every file below the folder, whatever it holds"
	case writes[tool]:
		return "any content of this file"
	case pathField[tool] != "":
		return "whatever this path holds later"
	case tool == "WebFetch":
		return "every address of the host and its sub-domains; an address can carry data out"
	case tool == "Skill":
		return "whatever the skill of this name says, in any project"
	}
	return "every use of the tool, whatever its arguments"
}

var writes = map[string]bool{"Write": true, "Edit": true, "MultiEdit": true, "NotebookEdit": true}

func firstWord(s string) string {
	first, _, _ := strings.Cut(s, " ")
	return first
}

package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pathTools are the tools whose rules are about files.
var pathTools = map[string]struct {
	field  string
	writes bool
	filter string // a glob in the input, for tools that search
}{
	"Read":         {field: "file_path"},
	"Write":        {field: "file_path", writes: true},
	"Edit":         {field: "file_path", writes: true},
	"MultiEdit":    {field: "file_path", writes: true},
	"NotebookEdit": {field: "notebook_path", writes: true},
	"Glob":         {field: "path", filter: "pattern"},
	"Grep":         {field: "path", filter: "glob"},
	"LS":           {field: "path"},
}

const pathToolNames = "Read, Write, Edit, MultiEdit, NotebookEdit, Glob, Grep, LS"

// pathUse is the file or folder that a call is about. Programs differ in
// whether they remove ".." before or after they follow links, so there can be
// two resolved paths.
type pathUse struct {
	given    string
	lexical  string   // absolute, without ".."; "" if that can't be known
	certain  []string // resolved; empty if the path can't be known
	possible []string // everything it might be taken for
}

func (s *subject) readPath() {
	tool := pathTools[s.call.Tool]
	for _, name := range []string{"file_path", "notebook_path", "path"} {
		if _, has := s.fields[name]; has && name != tool.field {
			s.concern("the input has a field %q besides %q", name, tool.field)
		}
	}
	given, ok := s.text(tool.field)
	_, has := s.fields[tool.field]
	switch {
	case !has && (tool.filter != "" || s.call.Tool == "LS") && s.fields != nil:
		given = s.call.Dir
	case !ok || given == "":
		s.concern("the input has no path")
		return
	}
	s.path = newPathUse(given, s.call.Dir)
	s.lookClosely(given)
	s.searches(tool.filter)
	if tool.writes {
		s.protect()
	}
}

func newPathUse(given, dir string) *pathUse {
	u := &pathUse{given: given}
	abs := given
	if !filepath.IsAbs(abs) && filepath.IsAbs(dir) {
		abs = dir + "/" + given // not Join: it would remove ".."
	}
	u.candidate(filepath.ToSlash(filepath.Clean(given)))
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(given, "~") {
		_, rest, _ := strings.Cut(given, "/")
		u.candidate(filepath.ToSlash(filepath.Join(home, rest)))
	}
	if !filepath.IsAbs(abs) {
		return u
	}
	u.lexical = filepath.ToSlash(filepath.Clean(abs))
	u.candidate(u.lexical)
	for _, path := range []string{u.lexical, abs} {
		resolved, err := resolve(path)
		if err != nil {
			u.certain = nil
			return u
		}
		u.certain = append(u.certain, resolved)
		u.candidate(resolved)
	}
	return u
}

func (u *pathUse) candidate(path string) {
	if !slices.Contains(u.possible, path) {
		u.possible = append(u.possible, path)
	}
}

// lookClosely asks about paths that may not be what they look like.
func (s *subject) lookClosely(given string) {
	switch {
	case strings.ContainsFunc(given, hidden):
		s.concern("the path has characters that do not show").Part = given
	case strings.HasPrefix(given, "~"):
		s.concern("the path starts with ~, which may or may not be expanded").Part = given
	case len(s.path.certain) == 0:
		s.concern("the path can't be resolved").Part = given
	case s.path.certain[0] != s.path.lexical:
		s.unmatched = "no rule matches; the path leads to " + s.path.certain[0]
	}
}

// searches looks at the glob of a tool that searches: what it names counts as
// possible, and it must stay below the folder.
func (s *subject) searches(field string) {
	raw, has := s.fields[field]
	if field == "" || !has {
		return
	}
	filter, ok := s.text(field)
	switch {
	case !ok:
		s.concern("the field %q is not a text", field).Part = string(raw)
	case strings.Contains(filter, "..") || filepath.IsAbs(filter) || strings.ContainsAny(filter[:min(1, len(filter))], `/\~`) ||
		strings.ContainsFunc(filter, hidden):
		s.concern("the search may leave its folder").Part = filter
	}
	for _, folder := range slices.Clone(s.path.possible) {
		s.path.candidate(filepath.ToSlash(filepath.Join(folder, filter)))
	}
}

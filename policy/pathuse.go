package policy

import (
	"path/filepath"
	"slices"
	"strings"
)

// A pathTool says where a tool names its file or folder.
type pathTool struct {
	field  string
	writes bool
	filter string // a glob in the input, for tools that search
}

// searches reports whether the tool shows all of a folder.
func (t pathTool) searches() bool { return t.filter != "" || t.field == "path" }

// pathTools are the tools whose rules are about files.
var pathTools = map[string]pathTool{
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
	folded   []string // the same, folded

	room struct { // for most
		certain, possible, folded [2]string
	}
}

func (f *Facts) readPath() {
	tool := pathTools[f.call.Tool]
	for _, name := range []string{"file_path", "notebook_path", "path"} {
		if _, has := f.fields.Get(name); has && name != tool.field {
			f.concern("the input has a field %q besides %q", name, tool.field)
		}
	}
	given, ok := f.text(tool.field)
	_, has := f.fields.Get(tool.field)
	switch {
	case !has && (tool.filter != "" || f.call.Tool == "LS") && f.fields != nil:
		given = f.call.Dir
	case !ok || given == "":
		f.concern("the input has no path")
		return
	}
	f.path = f.newPathUse(given, nil)
	f.lookClosely(given)
	f.searches(tool.filter)
	f.path.fold()
	if tool.writes {
		f.protect()
	} else if dir := f.own(f.path.possible); dir != "" {
		f.concern("the gateway's own files, its keys among them: no rule allows reading below %s", dir).Part = given
	}
}

// newPathUse reads a path; left is what resolve may spend on it.
func (f *Facts) newPathUse(given string, left *int) *pathUse {
	u := &pathUse{}
	f.readPathUse(u, given, left)
	return u
}

func (f *Facts) readPathUse(u *pathUse, given string, left *int) {
	u.given = given
	u.certain, u.possible = u.room.certain[:0], u.room.possible[:0]
	if plainPath(given) {
		f.readPlainPath(u, left)
		return
	}
	if trimmed := strings.TrimSpace(given); trimmed != given && trimmed != "" {
		u.possible = f.newPathUse(trimmed, left).possible
	}
	abs := given
	if !filepath.IsAbs(abs) && filepath.IsAbs(f.call.Dir) {
		abs = f.call.Dir + "/" + given // not Join: it would remove ".."
	}
	u.candidate(filepath.ToSlash(filepath.Clean(given)))
	if f.world.home != "" && strings.HasPrefix(given, "~") {
		_, rest, _ := strings.Cut(given, "/")
		inHome := filepath.ToSlash(filepath.Join(f.world.home, rest))
		u.candidate(inHome)
		if resolved, names, err := f.world.disk.follow(inHome, left); err == nil {
			u.candidates(append(names, resolved))
		}
	}
	if !filepath.IsAbs(abs) {
		return
	}
	u.lexical = filepath.ToSlash(filepath.Clean(abs))
	u.candidate(u.lexical)
	for _, path := range slices.Compact([]string{u.lexical, abs}) {
		resolved, names, err := f.world.disk.follow(path, left)
		u.candidates(names)
		if err != nil {
			u.certain = nil
			return
		}
		u.certain = append(u.certain, resolved)
		u.candidate(resolved)
	}
}

// plainPath reports whether a path is absolute, and there is only one way to
// read it.
func plainPath(p string) bool {
	n := len(p)
	if n < 2 || p[0] != '/' || p[n-1] <= ' ' || p[n-1] >= 0x7f || p[n-1] == '/' || filepath.Separator != '/' {
		return false
	}
	for i := 1; i < n; i++ {
		if p[i-1] == '/' && (p[i] == '/' || p[i] == '.') {
			return false
		}
	}
	return true
}

func (f *Facts) readPlainPath(u *pathUse, left *int) {
	u.lexical = u.given
	u.candidate(u.given)
	resolved, names, err := f.world.disk.follow(u.given, left)
	u.candidates(names)
	if err == nil {
		u.certain = append(u.certain, resolved)
		u.candidate(resolved)
	}
}

func (u *pathUse) candidates(paths []string) {
	for _, path := range paths {
		u.candidate(path)
	}
}

// fold makes what rules that ask or deny look at.
func (u *pathUse) fold() {
	u.folded = u.room.folded[:0]
	for _, path := range u.possible {
		u.folded = append(u.folded, fold(path))
	}
}

func (u *pathUse) candidate(path string) {
	if !slices.Contains(u.possible, path) {
		u.possible = append(u.possible, path)
	}
}

// lookClosely asks about paths that may not be what they look like.
func (f *Facts) lookClosely(given string) {
	switch {
	case strings.ContainsFunc(given, hidden):
		f.concern("the path has characters that do not show").Part = given
	case strings.TrimSpace(given) != given:
		f.concern("the path begins or ends with a blank, which may or may not be removed").Part = given
	case strings.HasPrefix(given, "~"):
		f.concern("the path starts with ~, which may or may not be expanded").Part = given
	case len(f.path.certain) == 0:
		f.concern("the path can't be resolved").Part = given
	case f.path.certain[0] != f.path.lexical:
		f.unmatched = noRule + "; the path leads to " + f.path.certain[0]
	}
}

// searches looks at the glob of a tool that searches: what it names counts as
// possible, and it must stay below the folder.
func (f *Facts) searches(field string) {
	_, has := f.fields.Get(field)
	if field == "" || !has {
		return
	}
	filter, ok := f.text(field)
	switch {
	case !ok:
		f.concern("the field %q is not a text", field).Field = field
	case leaves(filter) || strings.ContainsFunc(filter, hidden):
		f.concern("the search may leave its folder").Part = filter
	}
	for _, folder := range slices.Clone(f.path.possible) {
		f.path.candidate(filepath.ToSlash(filepath.Join(folder, filter)))
	}
}

// leaves reports whether a glob may match outside of the folder it starts
// from. With alternatives, so may one that is absolute, an empty one in front
// of a slash, or one that makes ".." with what it stands beside: .{.,x}/*.
func leaves(glob string) bool {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(glob, part) })
	}
	switch {
	case has("..") || filepath.IsAbs(glob) || strings.TrimSpace(glob) != glob || strings.ContainsAny(glob[:min(1, len(glob))], `/\~`):
		return true
	case !has("{", "("):
		return false
	case has("~", `\`, "{/", ",/", "(/", "|/", "{,", ",,", ",}", "{}", "(|", "||", "|)", "()"):
		return true
	}
	first, last := has("{.", ",.", "(.", "|."), has(".}", ".,", ".)", ".|")
	return first && last || first && has(".{", ".(") || last && has("}.", ").")
}

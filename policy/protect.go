package policy

import (
	"iter"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/shell"
)

// maxResolved is how many elements of paths are looked up for one command or
// input, less than a tenth of a second. maxPath is what systems take at most.
const (
	maxResolved = 20_000
	maxPath     = 4096
)

// protect asks about writes to protected paths, by any name the path may have.
func (f *Facts) protect() {
	if what := f.protected(f.path.possible); what != "" {
		c := f.concern("protected path: no rule allows writing to %s", what)
		c.Field, c.Part = pathTools[f.call.Tool].field, f.path.given
	}
}

// guard returns why no rule may allow one command of a line: it writes to a
// protected path, or names one and nobody knows what it does with it.
func (f *Facts) guard(command int) *gatelatch.Reason {
	u := f.shell
	if r, known := u.guards[command]; known {
		return r
	}
	r := f.guarded(command)
	if u.guards == nil {
		u.guards = map[int]*gatelatch.Reason{}
	}
	u.guards[command] = r
	return r
}

func (f *Facts) guarded(command int) *gatelatch.Reason {
	left, certain := maxResolved, true
	for _, e := range f.shell.facts.Effects {
		if e.Command != command {
			continue
		}
		if r := f.guardedEffect(e, &left); r != nil {
			return r
		}
		certain = certain && slices.Contains(onlyLooking, e.Action)
	}
	if certain {
		return nil
	}
	return f.guardedWords(command, &left)
}

// onlyLooking are actions that change nothing, whatever their words name.
var onlyLooking = []shell.Action{shell.Reads, shell.AsksService, shell.ShowsSecret}

func (f *Facts) guardedEffect(e shell.Effect, left *int) (r *gatelatch.Reason) {
	writes := e.Action == shell.Writes || e.Action == shell.Deletes
	switch {
	case writes && e.Path != "":
		if r = f.named(e.Place(), e.Detail, "a command", left); r == nil && e.Action == shell.Deletes {
			r = f.guardedFolder(e)
		}
	case writes && e.Code != "COMMAND" && e.Code != "MODE" && e.Code != "OPTION":
		r = asked("the command writes to a path that can't be known, and may be protected")
	case e.Path != "":
		if dir := f.own(f.newPathUse(e.Place(), left).possible); dir != "" {
			r = asked("the gateway's own files, its keys among them: no rule allows a command that names %s", dir)
		}
	}
	if r != nil {
		r.Field, r.Start, r.End = "command", e.Start, e.End
		r.Part = f.shell.part(e.Start, e.End)
	}
	return r
}

// guardedFolder returns why a folder may not be deleted: what is protected lies
// right in it.
func (f *Facts) guardedFolder(e shell.Effect) *gatelatch.Reason {
	folder, _, err := f.world.disk.follow(e.Place(), &f.left)
	if err != nil {
		return nil // guardedEffect looked at its name
	}
	entries, err := f.world.disk.list(folder)
	if err != nil {
		return nil // no folder
	}
	for _, entry := range entries {
		if what := f.protected([]string{folder + "/" + entry.Name()}); what != "" {
			return asked("protected path: no rule allows a command that deletes %s", what)
		}
	}
	return nil
}

// guardedWords looks at every word of a command: which of them are paths, and
// which it writes to, only the program knows.
func (f *Facts) guardedWords(command int, left *int) *gatelatch.Reason {
	c := &f.shell.facts.Commands[command]
	if c.Dir == "" && f.call.Dir != "" {
		return asked("where the command runs can't be known, and may be protected")
	}
	if c.Dir != f.call.Dir {
		if r := f.named(c.Dir, "", "a command", left); r != nil {
			return r
		}
	}
	for i, w := range c.Words {
		if i == 0 {
			continue
		}
		for name := range pieces(w.Text) {
			if r := f.named(from(c.Dir, name), w.Text, "a command", left); r != nil {
				r.Field, r.Start, r.End = "command", w.Start, w.End
				return r
			}
		}
	}
	return nil
}

// pieces yields what in a word may be a path: all of it, file in -ofile, in
// --out=file and in @file.
func pieces(word string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if strings.ContainsAny(word, "=:,@") {
			for name := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("=:,@", r) }) {
				if name != word && !yield(name) {
					return
				}
			}
		}
		if len(word) > 2 && word[0] == '-' && !yield(word[2:]) {
			return
		}
		if word != "" {
			yield(word)
		}
	}
}

// protectedCommand does the same for a command line that is not one plain
// command, and that something other than a rule would allow. It looks at what
// the command would write and at every piece of its text.
func (f *Facts) protectedCommand() *gatelatch.Reason {
	left := maxResolved
	for _, e := range f.shell.facts.Effects {
		if r := f.guardedEffect(e, &left); r != nil {
			return r
		}
	}
	look := func(name string) *gatelatch.Reason {
		r := f.named(name, name, "a command", &left)
		if r == nil && strings.ContainsAny(name, "*?[{") {
			if what := protectedByGlob(name); what != "" {
				r = asked("protected path: no rule allows a command that may name %s", what)
			}
		}
		return r
	}
	for _, c := range f.shell.commands() {
		for _, word := range c.Words {
			if r := look(word); r != nil {
				return r
			}
		}
	}
	for quoted := range strings.FieldsFuncSeq(f.shell.src, func(r rune) bool { return r == '\'' || r == '"' }) { // may have blanks in it
		if r := look(quoted); r != nil {
			return r
		}
	}
	plain := strings.NewReplacer("\\\n", "", `\`, "", `'`, "", `"`, "").Replace(f.shell.src)
	for piece := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>|;&()$`=:,@", r) }) {
		if r := look(piece); r != nil {
			return r
		}
	}
	return nil
}

// protectedByGlob returns a protected name that a glob may match, or "".
func protectedByGlob(glob string) string {
	for part := range strings.SplitSeq(fold(glob), "/") {
		if strings.Trim(part, "*?") == "" || !strings.ContainsAny(part, "*?[{") {
			continue
		}
		for _, names := range []map[string]bool{protectedDirs, protectedFiles} {
			for name := range names {
				if ok, err := doublestar.Match(part, name); ok || err != nil {
					return name
				}
			}
		}
	}
	return ""
}

// protectedText does the same for any text in the input of another tool that
// looks like a path, also as the name of a field. It returns what it finds.
func (f *Facts) protectedText() *gatelatch.Reason {
	by := "a tool"
	if strings.HasPrefix(f.call.Tool, "mcp__") {
		by = "an MCP tool"
	}
	left := maxResolved
	return f.protectedIn(f.input, "", by, &left)
}

func (f *Facts) protectedIn(value any, field, by string, left *int) *gatelatch.Reason {
	switch v := value.(type) {
	case string:
		return f.namedIn(v, field, by, left)
	case []any:
		for _, item := range v {
			if r := f.protectedIn(item, field+"[]", by, left); r != nil {
				return r
			}
		}
	case strictjson.Members:
		for _, m := range v {
			if r := f.namedIn(m.Name, field, by, left); r != nil {
				return r
			}
			if r := f.protectedIn(m.Value, strings.TrimPrefix(field+"."+m.Name, "."), by, left); r != nil {
				return r
			}
		}
	}
	return nil
}

// namedIn looks at one text of an input.
func (f *Facts) namedIn(text, field, by string, left *int) *gatelatch.Reason {
	start := strings.TrimSpace(text)
	if !strings.Contains(text, "/") && !strings.HasPrefix(start, "~") && !strings.HasPrefix(start, ".") {
		return nil // does not look like a path
	}
	r := f.named(text, text, by, left)
	if u, err := url.Parse(text); r == nil && err == nil && strings.EqualFold(u.Scheme, "file") {
		r = f.named(u.Path, text, by, left)
	}
	if r != nil && len(field) <= maxPath {
		r.Field = field
	}
	return r
}

// named returns a concern if name is a protected path, or there is too much to
// look up to know.
func (f *Facts) named(name, part, by string, left *int) *gatelatch.Reason {
	possible := []string{name}
	if len(name) <= maxPath {
		possible = f.newPathUse(name, left).possible
	}
	var r *gatelatch.Reason
	if what := f.protected(possible); what != "" {
		r = asked("protected path: no rule allows %s that names %s", by, what)
	} else if *left < 0 {
		return asked("there are too many paths to look for protected ones")
	}
	if r != nil && len(part) <= maxPath { // else too long to show
		r.Part = part
	}
	return r
}

// protected returns what makes one of the paths protected, or "".
func (f *Facts) protected(paths []string) string {
	for _, path := range paths {
		if what := protected(path); what != "" {
			return what
		}
	}
	return f.own(paths)
}

// own returns the directory of the gateway that one of the paths lies in, or "".
func (f *Facts) own(paths []string) string {
	for _, path := range paths {
		for _, dir := range f.world.dirs {
			if _, inside := relative(strings.ToLower(dir), strings.ToLower(path)); inside {
				return dir
			}
		}
	}
	return ""
}

// protected returns the elements that make the path protected, or "". Some
// file systems ignore case, and blanks and dots at the end of a name.
func protected(path string) string {
	parts, before := strings.Split(strings.ToLower(path), "/"), ""
	for i, part := range parts {
		part = strings.TrimRight(part, " .")
		both := before + "/" + part
		switch {
		case protectedDirs[part] || i == len(parts)-1 && protectedFiles[part]:
			return part
		case protectedDirs[both], i == len(parts)-1 && protectedPlaces[both], strings.HasSuffix(before, ".git") && (part == "hooks" || part == "config"): // of a bare repository
			return both
		}
		before = part
	}
	return ""
}

// places returns what directories are called, and where that leads.
func places(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if dir == "" || err != nil {
			continue
		}
		out = append(out, filepath.ToSlash(abs))
		if resolved, err := resolve(abs, nil); err == nil {
			out = append(out, resolved)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

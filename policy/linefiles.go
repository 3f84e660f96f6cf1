package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// maxFiles is how many files of one command line are held against the rules
// about files. With more a person is asked.
const maxFiles = 64

// consultFiles asks the rules that forbid reading or writing files about those
// that a command line would read or write: a rule for Read or Edit is about the
// shell, too. Such a rule never allows a command.
func (s *Set) consultFiles(f *Facts, out *said) {
	if f.shell == nil {
		return
	}
	seen := map[[2]string]bool{}
	for _, e := range f.shell.facts.Effects {
		tool := toolFor(e)
		if tool == "" || seen[[2]string{tool, e.Place()}] {
			continue
		}
		if seen[[2]string{tool, e.Place()}] = true; len(seen) > maxFiles {
			out.add(*asked("the command names too many files"))
			return
		}
		s.consultFile(f.file(tool, e.Place()), e, f, out)
	}
	for _, e := range f.shell.facts.Effects {
		if (e.Below || e.Action == shell.Deletes) && toolFor(e) != "" {
			s.consultBelow(e, f, out)
		}
	}
	s.consultWords(f, out)
}

// consultWords does so for words that name files, of commands that do more than
// look: which of them they read, only the program knows.
func (s *Set) consultWords(f *Facts, out *said) {
	for i, c := range f.shell.facts.Commands {
		if f.certain(i) {
			continue
		}
		for _, w := range c.Words[min(1, len(c.Words)):] {
			for _, name := range pieces(w.Text) {
				if len(name) > maxPath {
					continue
				}
				if f.left--; f.left < 0 {
					out.add(*asked("the command names too many files"))
					return
				}
				name = from(c.Dir, name)
				if exists(f.absolute(name)) {
					s.consultFile(f.file("Read", name), shell.Effect{Start: w.Start, End: w.End}, f, out)
				}
			}
		}
	}
}

// absolute is a name as seen from where the call would run, "" if that is not
// known.
func (f *Facts) absolute(name string) string {
	switch {
	case filepath.IsAbs(name):
	case filepath.IsAbs(f.call.Dir):
		name = f.call.Dir + "/" + name
	default:
		return ""
	}
	return filepath.ToSlash(filepath.Clean(name))
}

// from is a name as seen from the folder that a command runs in.
func from(dir, name string) string {
	if dir == "" || filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return dir + "/" + name
}

func exists(name string) bool {
	_, err := os.Lstat(filepath.FromSlash(name))
	return name != "" && err == nil
}

// certain reports whether all is known that a command does, and it only looks.
func (f *Facts) certain(command int) bool {
	return !slices.ContainsFunc(f.shell.facts.Effects, func(e shell.Effect) bool {
		return e.Command == command && !slices.Contains(onlyLooking, e.Action)
	})
}

// fileAt is the same for a file that was found; one that no link leads to need
// not be looked up.
func (f *Facts) fileAt(tool string, at found) *Facts {
	if at.link {
		return f.file(tool, at.name)
	}
	sub := f.using(tool)
	sub.path = &pathUse{given: at.name, lexical: at.name, certain: []string{at.name}, possible: []string{at.name}}
	sub.path.fold()
	return sub
}

// consultBelow does so for the files below a folder, until a rule speaks.
func (s *Set) consultBelow(e shell.Effect, f *Facts, out *said) {
	files, known := f.below(e)
	if !known && s.forbids(toolFor(e)) {
		out.add(*asked("there are too many files to hold against the rules"))
	}
	for _, at := range files {
		file := f.fileAt(toolFor(e), at)
		before := len(out.reasons)
		if s.consultFile(file, e, f, out); len(out.reasons) > before {
			return
		}
	}
}

// forbids reports whether a rule asks or denies about files of a tool.
func (s *Set) forbids(tool string) bool {
	return slices.ContainsFunc(s.layers, func(l *layer) bool {
		in := func(rules []rule) bool {
			return slices.ContainsFunc(rules, func(r rule) bool { return r.Effect != gatelatch.Allow && r.covers(tool) })
		}
		return in(l.rules) || slices.ContainsFunc(l.sections, func(s section) bool { return in(s.layer.rules) })
	})
}

func toolFor(e shell.Effect) string {
	switch {
	case e.Path == "" || e.Code == "SECRET_FILE":
		return ""
	case e.Action == shell.Reads:
		return "Read"
	case e.Action == shell.Writes || e.Action == shell.Deletes:
		return "Edit"
	}
	return ""
}

// file is the facts of using a path with a tool for files.
func (f *Facts) file(tool, path string) *Facts {
	sub := f.using(tool)
	sub.path = sub.newPathUse(path, &f.left)
	sub.path.fold()
	return sub
}

func (f *Facts) using(tool string) *Facts {
	sub := *f
	sub.call = &gatelatch.Call{Kind: f.call.Kind, Tool: tool, Dir: f.call.Dir}
	sub.input, sub.fields, sub.shell, sub.concerns, sub.unmatched, sub.paths = nil, nil, nil, nil, "", nil
	sub.buf = buffers{}
	return &sub
}

func (s *Set) consultFile(file *Facts, e shell.Effect, f *Facts, out *said) {
	said := said{}
	for _, l := range s.layers {
		s.forbid(l, file, &said)
		for i := range l.sections {
			if _, possible := f.inSection(&l.sections[i]); possible {
				s.forbid(l.sections[i].layer, file, &said)
			}
		}
	}
	for _, r := range said.reasons {
		r.Field, r.Start, r.End = "command", e.Start, e.End
		r.Part = f.shell.part(e.Start, e.End)
		out.add(r)
	}
	out.errs = append(out.errs, said.errs...)
}

// forbid asks the rules of a layer that ask and deny.
func (s *Set) forbid(l *layer, file *Facts, out *said) {
	file.buf.ids = l.index.collect(file, file.buf.ids[:0])
	for _, id := range file.buf.ids {
		if r := &l.rules[id]; r.Effect != gatelatch.Allow {
			s.ask(r, file, out)
		}
	}
}

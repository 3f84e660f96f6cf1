package policy

import (
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
	effects, seen := f.shell.facts.Effects, f.buffers().files[:0]
	for i := range effects {
		use := fileUse{toolFor(&effects[i]), effects[i].Place()}
		if use.tool == "" || slices.Contains(seen, use) {
			continue
		}
		if seen = append(seen, use); len(seen) > maxFiles {
			out.add(*asked("the command names too many files"))
			return
		}
		if !s.silentAbout(use, f) {
			s.consultFile(f.file(use.tool, use.path), &effects[i], f, out)
		}
	}
	f.buf.files = seen
	for i := range effects {
		e := &effects[i]
		if e.Code == shell.Committed || e.Code == shell.CommittedAt {
			s.consultCommitted(e, f, out)
		}
		if (e.Below || e.Action == shell.Deletes) && toolFor(e) != "" {
			s.consultBelow(*e, f, out)
		}
	}
	s.consultWords(f, out)
}

// consultWords does so for words that name files, of commands that do more than
// look: which of them they read, only the program knows.
func (s *Set) consultWords(f *Facts, out *said) {
	if f.world.disk == (writtenDisk{}) {
		return // no word names a file
	}
	for i, c := range f.shell.facts.Commands {
		if f.certain(i) {
			continue
		}
		for _, w := range c.Words[min(1, len(c.Words)):] {
			for name := range pieces(w.Text) {
				if len(name) > maxPath {
					continue
				}
				if f.left--; f.left < 0 {
					out.add(*asked("the command names too many files"))
					return
				}
				name = from(c.Dir, name)
				if path := f.absolute(name); path != "" && f.world.disk.exists(path) {
					s.consultFile(f.file("Read", name), &shell.Effect{Start: w.Start, End: w.End}, f, out)
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
	sub.path.given, sub.path.lexical = at.name, at.name
	sub.path.certain = append(sub.path.room.certain[:0], at.name)
	sub.path.possible = append(sub.path.room.possible[:0], at.name)
	sub.path.fold()
	return sub
}

// consultBelow does so for the files below a folder, until a rule speaks.
func (s *Set) consultBelow(e shell.Effect, f *Facts, out *said) {
	files, known := f.below(e)
	if !known && s.forbids(toolFor(&e)) {
		out.add(*asked("there are too many files to hold against the rules"))
	}
	for _, at := range files {
		file := f.fileAt(toolFor(&e), at)
		before := len(out.reasons)
		if s.consultFile(file, &e, f, out); len(out.reasons) > before {
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

func toolFor(e *shell.Effect) string {
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

// file is the facts of using a path with a tool for files. They are good until
// the next ones are made.
func (f *Facts) file(tool, path string) *Facts {
	sub := f.using(tool)
	sub.readPathUse(sub.path, path, &f.left)
	sub.path.fold()
	return sub
}

func (f *Facts) using(tool string) *Facts {
	b := f.buffers()
	b.call.Kind, b.call.Tool, b.call.Dir = f.call.Kind, tool, f.call.Dir
	b.path = pathUse{}
	b.file = Facts{call: &b.call, session: f.session, world: f.world, homeRoot: *f.home(), projectRoot: *f.project(), knowsHome: true, knowsProject: true, path: &b.path, left: f.left, folders: f.folders, buf: b}
	return &b.file
}

func (s *Set) consultFile(file *Facts, e *shell.Effect, f *Facts, out *said) {
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

// silentAbout reports whether no rule may speak about using a file, which is
// soon known if no link leads there.
func (s *Set) silentAbout(use fileUse, f *Facts) bool {
	if !plainPath(use.path) {
		return false
	}
	before := f.left
	if resolved, names, err := f.world.disk.follow(use.path, &f.left); err != nil || len(names) > 0 || resolved != use.path {
		f.left = before // it is followed once more
		return false
	}
	folded, ids := fold(use.path), f.buffers().ids[:0]
	for _, l := range s.layers {
		if len(l.sections) > 0 || len(l.index.prefixes) > 0 {
			return false
		}
		b := l.index.tools[use.tool]
		if b == nil {
			continue
		}
		if ids = b.paths[0].collect(f, folded, false, true, ids); len(ids) > 0 || len(b.always) > 0 || len(b.fields) > 0 {
			return false
		}
	}
	return true
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

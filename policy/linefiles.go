package policy

import (
	"os"
	"path/filepath"
	"slices"

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
		s.consultFolder(tool, e, f, out)
	}
}

// listing are programs that show the names in a folder, not what is in its
// files.
var listing = []string{"ls", "dir", "find", "fd", "tree", "du", "stat", "cd", "pushd", "test", "[", "file", "realpath", "readlink", "git"}

// consultFolder asks about a command that goes through a whole folder in which a
// rule forbids something: nobody knows where it stops.
func (s *Set) consultFolder(tool string, e shell.Effect, f *Facts, out *said) {
	if e.Action == shell.Reads && slices.Contains(listing, f.shell.program(e.Command)) {
		return
	}
	folder, _, err := f.world.follow(e.Place(), &f.left)
	if info, e := os.Stat(folder); err != nil || e != nil || !info.IsDir() {
		return
	}
	for _, l := range s.layers {
		s.forbiddenIn(l, tool, folder, e, f, out)
		for i := range l.sections {
			if _, possible := f.inSection(&l.sections[i]); possible {
				s.forbiddenIn(l.sections[i].layer, tool, folder, e, f, out)
			}
		}
	}
}

func (s *Set) forbiddenIn(l *layer, tool, folder string, e shell.Effect, f *Facts, out *said) {
	for _, r := range l.places {
		if !r.covers(tool) || !r.Until.IsZero() && r.ended(s.now()) {
			continue
		}
		p, ok := r.on.(pathPattern)
		if !ok {
			continue
		}
		for _, root := range f.rootsOf(p.below) {
			base := fold(filepath.ToSlash(filepath.Join(root, p.base())))
			if _, inside := relative(fold(folder), base); inside && base != fold(folder) {
				out.add(gatelatch.Reason{
					Effect: gatelatch.Ask, Layer: l.name, Rule: r.Text, Source: r.Source, Field: "command",
					Message: "this goes through a folder in which a rule speaks about files", Part: f.shell.part(e.Start, e.End), Start: e.Start, End: e.End,
				})
				break
			}
		}
	}
}

// program is the name of what a command runs, "" if it is not known.
func (u *shellUse) program(command int) string {
	if command < 0 || command >= len(u.facts.Commands) || len(u.facts.Commands[command].Words) == 0 {
		return ""
	}
	w := u.facts.Commands[command].Words[0]
	if !w.Known() {
		return ""
	}
	return filepath.Base(w.Text)
}

// rootsOf returns the folders that a pattern may start from.
func (f *Facts) rootsOf(below byte) []string {
	switch below {
	case '.':
		return []string{f.project.given, f.project.resolved}
	case '~':
		return []string{f.home.given, f.home.resolved}
	case '/':
		return []string{"/"}
	}
	return nil // anywhere: every folder would count
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
	sub := *f
	sub.call = &gatelatch.Call{Kind: f.call.Kind, Tool: tool, Dir: f.call.Dir}
	sub.input, sub.fields, sub.shell, sub.concerns, sub.unmatched, sub.paths = nil, nil, nil, nil, "", nil
	sub.buf = buffers{}
	sub.path = sub.newPathUse(path, &f.left)
	sub.path.fold()
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

// linksStay reports whether no link in a folder leads out of the project: a
// pattern would follow it.
func (f *Facts) linksStay(folder string) bool {
	if f.left -= 16; f.left < 0 {
		return false
	}
	entries, err := os.ReadDir(filepath.FromSlash(folder))
	if err != nil {
		return os.IsNotExist(err)
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		if f.left--; f.left < 0 {
			return true
		}
		if e.Type()&os.ModeSymlink == 0 {
			return false
		}
		resolved, _, err := f.world.follow(folder+"/"+e.Name(), &f.left)
		return err != nil || !f.inProject(resolved)
	})
}

package policy

import (
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/gatelatch/gatelatch/shell"
)

// maxElsewhere is how many files are looked up outside of the project.
const maxElsewhere = 1000

// below returns the files that an effect reads below its path, as far as they
// exist. There may be too many to know.
func (f *Facts) below(e shell.Effect) (files []found, known bool) {
	which := shell.Which{}
	if e.Which != nil {
		which = *e.Which
	}
	key := spread{e.Place(), which}
	if files, has := f.spreads[key]; has {
		return files, files != nil
	}
	if f.spreads == nil {
		f.spreads = map[spread][]found{}
	}
	base, _, err := f.world.disk.follow(e.Place(), &f.left)
	if err != nil {
		return nil, false
	}
	left := &f.left
	if !f.inProject(base) {
		few := min(f.left, maxElsewhere)
		left = &few // it is asked about anyway, unless a rule covers the command
	}
	l := lookup{disk: f.world.disk, left: left, which: which, found: []found{}}
	if which.Glob != "" {
		l.expand(base, false, strings.FieldsFunc(which.Glob, func(r rune) bool { return r == '/' }))
	} else {
		l.walk(base, 0)
	}
	if *left < 0 {
		l.found = nil
	}
	f.spreads[key] = l.found
	return l.found, l.found != nil
}

type spread struct {
	path  string
	which shell.Which
}

// found is a file, and whether a link leads there.
type found struct {
	name string
	link bool
}

// A lookup collects files.
type lookup struct {
	disk  disk
	left  *int
	which shell.Which
	found []found
}

const maxDepth = 64

// expand follows a pattern of the shell: a * matches no dot in front, and a
// folder that it matches is shown by programs with what is in it.
func (l *lookup) expand(dir string, link bool, parts []string) {
	if len(parts) == 0 || strings.HasPrefix(parts[0], "**") {
		l.walk(dir, 0)
		return
	}
	entries, err := l.disk.list(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if *l.left--; *l.left < 0 {
			return
		}
		name, link := e.Name(), link || e.Type()&os.ModeSymlink != 0
		ok, err := path.Match(parts[0], name)
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(parts[0], ".")
		switch {
		case !ok && err == nil || hidden:
		case len(parts) == 1:
			l.found = append(l.found, found{dir + "/" + name, link})
		default:
			l.expand(dir+"/"+name, link, parts[1:])
		}
	}
}

// walk collects all that is below a folder. What is in .git and node_modules
// is no file of the project.
func (l *lookup) walk(dir string, depth int) {
	entries, err := l.disk.list(dir)
	if err != nil {
		l.found = append(l.found, found{dir, true}) // a file
		return
	}
	if depth > maxDepth {
		*l.left = -1
	}
	for _, e := range entries {
		name, link := e.Name(), e.Type()&os.ModeSymlink != 0
		if *l.left--; *l.left < 0 {
			return
		}
		switch matches, _ := doublestar.Match(l.which.Named, name); {
		case l.which.Visible && strings.HasPrefix(name, "."), link && !l.which.Linked, name == ".git", name == "node_modules":
		case e.IsDir():
			l.walk(dir+"/"+name, depth+1)
		case l.which.Named == "" || matches:
			l.found = append(l.found, found{dir + "/" + name, link})
		}
	}
}

package policy

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Facts are a call as rules see it, read once: the command parsed, links
// followed. Judging or explaining it again need not look at the disk. They are
// true when they are read and not for long, since links change, so nothing
// keeps them. Only one goroutine may use them at a time.
type Facts struct {
	call    *gatelatch.Call
	session *gatelatch.Session
	input   any                // as strictjson decodes
	fields  strictjson.Members // the input if it is an object, else nil
	refused string             // why the input is not even looked at

	world                   world
	homeRoot, projectRoot   root // see home and project
	knowsHome, knowsProject bool

	// By the tool, at most one of these is set.
	shell *shellUse
	path  *pathUse
	web   *webUse
	skill string

	// unmatched says more than "no rule covers this", if there is more to say.
	unmatched string
	// concerns are what must be asked whatever the rules say.
	concerns []gatelatch.Reason

	spreads map[spread][]found  // files below folders that a command reads
	paths   map[string]*pathUse // paths in other fields, looked up when a condition wants them
	left    int                 // how much more may be looked up for those
	bound   int64               // bytes of files that were read to bind the call to them

	folders map[string]root // of projects that files speak about
	buf     *buffers        // see buffers
}

// A world is what facts depend on besides the call and its session.
type world struct {
	home string   // "" if it is not known
	dirs []string // see File.Protect
	disk disk
}

// A root is a folder that patterns start from: as given and with links
// resolved, each also folded. Its texts are empty where that is not known.
type root struct {
	given, resolved             string
	foldedGiven, foldedResolved string
}

// Read reads the facts of a call.
func (s *Set) Read(c *gatelatch.Call, sess *gatelatch.Session) *Facts {
	return newFacts(c, sess, world{home: s.home, dirs: s.dirs, disk: newDisk(s.home)})
}

func newFacts(c *gatelatch.Call, sess *gatelatch.Session, w world) *Facts {
	f := &Facts{call: c, session: sess, world: w, left: maxResolved}
	if sess == nil {
		f.session = &gatelatch.Session{}
	}
	input, err := strictjson.Decode(c.Input)
	if err != nil {
		f.refused = "the input can be read in more than one way: " + err.Error()
		return f
	}
	f.input = input
	f.fields, _ = input.(strictjson.Members)
	f.readTool()
	return f
}

// home returns the home directory of whoever runs the gateway.
func (f *Facts) home() *root {
	if !f.knowsHome {
		f.homeRoot, f.knowsHome = f.root(f.world.home), true
	}
	return &f.homeRoot
}

// project returns the folder of the session. "/" is none.
func (f *Facts) project() *root {
	if !f.knowsProject {
		f.knowsProject = true
		if p := f.session.Project; cleanPath(p) != filepath.Dir(p) {
			f.projectRoot = f.root(p)
		}
	}
	return &f.projectRoot
}

// given returns a folder as it was named, "" if that is not known.
func given(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	return cleanPath(dir)
}

func (f *Facts) root(dir string) (r root) {
	if r.given = given(dir); r.given == "" {
		return r
	}
	r.foldedGiven = fold(r.given)
	if resolved, _, err := f.world.disk.follow(dir, nil); err == nil {
		r.resolved, r.foldedResolved = resolved, r.foldedGiven
		if resolved != r.given {
			r.foldedResolved = fold(resolved)
		}
	}
	return r
}

// cleanPath is a path without ".." and the like, with forward slashes.
func cleanPath(p string) string {
	if plainPath(p) {
		return p
	}
	return filepath.ToSlash(filepath.Clean(p))
}

// readTool reads what the tool is about, and finds concerns.
func (f *Facts) readTool() {
	if f.call.Kind != gatelatch.Permission {
		f.concern("a %s is for a person to answer", f.call.Kind)
	}
	switch tool := f.call.Tool; {
	case tool == "Bash":
		f.readShell()
	case pathTools[tool].field != "":
		f.readPath()
	case tool == "WebFetch":
		f.readWeb()
	case tool == "Skill":
		f.skill, _ = f.text("skill")
	case strings.HasPrefix(tool, "mcp__"):
		if r := f.protectedText(); r != nil {
			f.concerns = append(f.concerns, *r)
		}
	}
}

// concern makes sure that a person is asked.
func (f *Facts) concern(format string, args ...any) *gatelatch.Reason {
	f.concerns = append(f.concerns, *asked(format, args...))
	return &f.concerns[len(f.concerns)-1]
}

func asked(format string, args ...any) *gatelatch.Reason {
	return &gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Message: fmt.Sprintf(format, args...)}
}

// text returns a field that must be a string.
func (f *Facts) text(name string) (text string, ok bool) {
	value, _ := f.fields.Get(name)
	text, ok = value.(string)
	return text, ok
}

// pathOf looks up a path that stands in some field, as if a path tool named it.
func (f *Facts) pathOf(given string) *pathUse {
	u, has := f.paths[given]
	if !has {
		if f.paths == nil {
			f.paths = map[string]*pathUse{}
		}
		u = f.newPathUse(given, &f.left)
		u.fold()
		f.paths[given] = u
	}
	return u
}

// hidden reports whether r would not show, or would change how the rest does.
func hidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// fold maps texts to the same one if strings.EqualFold takes them for equal.
func fold(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return strings.Map(foldRune, s)
		}
	}
	return strings.ToLower(s)
}

func foldRune(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r { // the smallest that stands for all
			if 'A' <= next && next <= 'Z' {
				next += 'a' - 'A'
			}
			return next
		}
		r = next
	}
}

package policy

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gatelatch/gatelatch"
)

// MachineFile holds the rules of everybody who uses this machine.
const MachineFile = "/etc/gatelatch/policy.yaml"

// Paths are the files of rules. One that is not given is left out.
type Paths struct {
	Machine string // must belong to root
	User    string
}

// A File judges by the rules in files, and in those of projects, and notices
// when they change.
type File struct {
	mu       sync.Mutex
	machine  *source // nil if there is none
	user     *source
	set      *Set // without a project
	projects projects
	dirs     []string // see Protect
}

var _ gatelatch.Policy = (*File)(nil)

// Open returns the policy in a user's file.
func Open(path string) *File { return OpenPaths(Paths{User: path}) }

// OpenPaths returns the policy in files. Without the user's file the default
// rules hold in its place; a broken one denies everything until it is mended.
func OpenPaths(p Paths) *File { return openPaths(p, true) }

func openPaths(p Paths, rootOnly bool) *File {
	user := newSource(p.User, filepath.Base(p.User), layerUser, false)
	user.instead = Default().layers[0]
	return openSources(p, user, rootOnly)
}

func openSources(p Paths, user *source, rootOnly bool) *File {
	f := &File{user: user}
	if p.Machine != "" {
		f.machine = newSource(p.Machine, p.Machine, layerMachine, rootOnly)
	}
	for _, s := range f.sources() {
		_ = s.reload() // the error is kept in problem
	}
	f.compose()
	return f
}

func newSource(path, name, tier string, rootOnly bool) *source {
	return &source{
		name: name, tier: tier,
		stat: func() (stamp, error) { return look(path) },
		read: func() ([]byte, stamp, error) { return readSafely(path, rootOnly) },
	}
}

func (f *File) sources() []*source {
	if f.machine == nil {
		return []*source{f.user}
	}
	return []*source{f.machine, f.user}
}

// compose makes the rules in force of what the files last said.
func (f *File) compose() {
	var layers []*layer
	var broken []string
	for _, s := range f.sources() {
		switch {
		case !s.good:
			broken = append(broken, s.problem)
		case s.layer != nil:
			layers = append(layers, s.layer)
		}
	}
	set := newSet(layers...)
	set.broken, set.dirs = strings.Join(broken, "; "), f.dirs
	f.set = set.sum()
	f.projects.base = f.set
}

// Judge implements gatelatch.Policy.
func (f *File) Judge(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session, grants []*gatelatch.Grant) gatelatch.Verdict {
	return f.For(s).Judge(ctx, c, s, grants)
}

// Remember implements gatelatch.Policy.
func (f *File) Remember(c *gatelatch.Call, s *gatelatch.Session, scope gatelatch.Scope) (string, error) {
	return f.For(s).Remember(c, s, scope)
}

// Offers implements gatelatch.Offering.
func (f *File) Offers(c *gatelatch.Call, s *gatelatch.Session, scope gatelatch.Scope) []gatelatch.Offer {
	return f.For(s).Offers(c, s, scope)
}

// ModeOf implements gatelatch.Moding.
func (f *File) ModeOf(s *gatelatch.Session) (gatelatch.Mode, string) { return f.For(s).ModeOf(s) }

// Covers implements gatelatch.Policy.
func (f *File) Covers(match string, c *gatelatch.Call, s *gatelatch.Session, scope gatelatch.Scope) error {
	return f.For(s).Covers(match, c, s, scope)
}

// Set returns the rules in force outside of projects, read anew if a file
// changed.
func (f *File) Set() *Set { return f.For(nil) }

// For returns the rules in force for a session, those of its project's own
// file among them.
func (f *File) For(s *gatelatch.Session) *Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	if s == nil {
		return f.set
	}
	return f.projects.set(s.Project)
}

// HashFor identifies the rules in force for a session.
func (f *File) HashFor(s *gatelatch.Session) string { return f.For(s).Hash() }

// Protect names directories that no rule allows to write to or to name in a
// command, whatever they are called: the gateway's own. A later call adds to
// them.
func (f *File) Protect(dirs ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirs = append(slices.Clip(f.dirs), places(dirs)...)
	f.compose()
}

// Reload reads the files now. The last good rules of one that is broken, or
// gone, stay in force.
func (f *File) Reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, s := range f.sources() {
		if err := s.reload(); err != nil && (s == f.user || s.problem != "") {
			errs = append(errs, err)
		}
	}
	f.compose()
	return errors.Join(errs...)
}

// Problem says why a file, as it is now, is not in force and what holds
// instead, for a banner; "" if all is well.
func (f *File) Problem() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	var out []string
	for _, s := range f.sources() {
		switch {
		case s.problem == "":
		case !s.good:
			out = append(out, s.problem+"; everything is denied until it is mended")
		default:
			out = append(out, s.problem+"; the last good rules stay in force")
		}
	}
	return strings.Join(out, "\n")
}

// Hash identifies the rules in force outside of projects.
func (f *File) Hash() string { return f.Set().Hash() }

func (f *File) refresh() {
	changed := false
	for _, s := range f.sources() {
		changed = s.refresh() || changed
	}
	if changed {
		f.compose()
	}
}

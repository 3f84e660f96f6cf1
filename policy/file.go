package policy

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
)

// settle is how old a change must be before the file counts as read: a second
// one within the clock's tick would not show.
const settle = 100 * time.Millisecond

// A File judges by the rules in a file and notices when it changes.
type File struct {
	path string

	mu      sync.Mutex
	set     *Set
	seen    stamp // of the file that set or problem came from
	fresh   bool  // seen changed only just now: look again
	problem string
	dirs    []string // see Protect
}

var _ gatelatch.Policy = (*File)(nil)

// A stamp changes when a file does.
type stamp struct {
	mod   int64 // nanoseconds
	size  int64
	mode  fs.FileMode
	inode uint64
	owner uint32
}

// Open returns the policy in a file. Without a file the default rules hold; a
// broken one denies everything until it is mended.
func Open(path string) *File {
	f := &File{path: path}
	err := f.reload()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.set, f.problem = Default(), ""
	case err != nil:
		f.set = denyAll(err)
	}
	return f
}

func denyAll(err error) *Set {
	hash := gatelatch.SumFields("gatelatch.policy.broken.v1", []byte(err.Error())).String()
	s := newSet(hash)
	s.broken = err.Error()
	return s
}

// Judge implements gatelatch.Policy.
func (f *File) Judge(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session, grants []*gatelatch.Grant) gatelatch.Verdict {
	return f.Set().Judge(ctx, c, s, grants)
}

// Remember implements gatelatch.Policy.
func (f *File) Remember(c *gatelatch.Call, s *gatelatch.Session, scope gatelatch.Scope) (string, error) {
	return f.Set().Remember(c, s, scope)
}

// Covers implements gatelatch.Policy.
func (f *File) Covers(match string, c *gatelatch.Call, s *gatelatch.Session, scope gatelatch.Scope) error {
	return f.Set().Covers(match, c, s, scope)
}

// Set returns the rules in force, read anew if the file changed.
func (f *File) Set() *Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	return f.set
}

// Protect names directories that no rule allows to write to or to name in a
// command, whatever they are called: the gateway's own. A later call adds to
// them.
func (f *File) Protect(dirs ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirs = append(slices.Clip(f.dirs), places(dirs)...)
	f.set = f.set.protecting(f.dirs)
}

// Reload reads the file now. If it is broken, or gone, the last good rules
// stay in force.
func (f *File) Reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reload()
}

// Problem says why the file, as it is now, is not in force and what holds
// instead, for a banner; "" if all is well.
func (f *File) Problem() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	switch {
	case f.problem == "":
		return ""
	case f.set.broken != "":
		return f.problem + "; everything is denied until it is mended"
	}
	return f.problem + "; the last good rules stay in force"
}

// Hash identifies the rules in force.
func (f *File) Hash() string { return f.Set().Hash() }

// refresh reads the file if it changed.
func (f *File) refresh() {
	if now, err := look(f.path); f.fresh || err != nil && f.seen != (stamp{}) || err == nil && now != f.seen {
		_ = f.reload() // the error is kept in problem
	}
}

func (f *File) reload() error {
	set, st, err := load(f.path)
	f.seen, f.fresh = st, st != (stamp{}) && time.Since(time.Unix(0, st.mod)) < settle
	if err == nil {
		f.set, f.problem = set.protecting(f.dirs), ""
		return nil
	}
	f.problem = err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		f.problem = filepath.Base(f.path) + " is gone"
		if f.set != nil && f.set.isDefault() {
			f.problem = "" // it was never in force
		}
	}
	return err
}

func (s *Set) isDefault() bool { return len(s.layers) == 1 && s.layers[0].name == layerDefault }

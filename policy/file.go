package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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
}

var _ gatelatch.Policy = (*File)(nil)

// A stamp changes when a file does.
type stamp struct {
	mod   int64 // nanoseconds
	size  int64
	mode  fs.FileMode
	inode uint64
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
	return &Set{layer: layerUser, broken: err.Error(), hash: hash}
}

// Judge implements gatelatch.Policy.
func (f *File) Judge(ctx context.Context, c *gatelatch.Call, s *gatelatch.Session) gatelatch.Verdict {
	return f.Set().Judge(ctx, c, s)
}

// Set returns the rules in force, read anew if the file changed.
func (f *File) Set() *Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now, err := look(f.path); f.fresh || err != nil && f.seen != (stamp{}) || err == nil && now != f.seen {
		_ = f.reload() // the error is kept in problem
	}
	return f.set
}

// Reload reads the file now. If it is broken, or gone, the last good rules
// stay in force.
func (f *File) Reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reload()
}

// Problem says why the file is not in force, for a banner; "" if all is well.
func (f *File) Problem() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.problem
}

// Hash identifies the rules in force.
func (f *File) Hash() string { return f.Set().Hash() }

func (f *File) reload() error {
	set, st, err := load(f.path)
	f.seen, f.fresh = st, st != (stamp{}) && time.Since(time.Unix(0, st.mod)) < settle
	if err == nil {
		f.set, f.problem = set, ""
		return nil
	}
	f.problem = err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		f.problem = fmt.Sprintf("%s is gone; the rules it had stay in force", filepath.Base(f.path))
	}
	return err
}

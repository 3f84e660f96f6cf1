package policy

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/shell"
)

// A disk is what judging may look at besides the call.
type disk interface {
	shell.Files
	// follow resolves a path; see the function of that name.
	follow(name string, left *int) (resolved string, names []string, err error)
	list(dir string) ([]os.DirEntry, error)
	exists(name string) bool
	// tracked returns what Git keeps of a repository; see repositories.
	tracked(path string, below bool) (files []string, known bool)
}

// liveDisk is the disk as it is. Each link is looked up once for a judgement.
type liveDisk struct {
	repositories
	links map[string]string
}

func newDisk(home string) *liveDisk {
	m := &liveDisk{links: map[string]string{}}
	m.repositories = repositories{m.follow, home}
	return m
}

func (m *liveDisk) follow(name string, left *int) (string, []string, error) {
	return followBy(m.link, name, left)
}

func (m *liveDisk) link(name string) (target string, err error) {
	target, known := m.links[name]
	if !known {
		if target, err = link(name); err == nil {
			m.links[name] = target
		}
	}
	return target, err
}

func (m *liveDisk) list(dir string) ([]os.DirEntry, error) {
	return os.ReadDir(filepath.FromSlash(dir))
}

func (m *liveDisk) exists(name string) bool {
	_, err := os.Lstat(filepath.FromSlash(name))
	return err == nil
}

// writtenDisk is one on which every path leads where it says, and nothing else
// is known.
type writtenDisk struct{}

func (writtenDisk) follow(name string, _ *int) (string, []string, error) {
	return cleanPath(name), nil, nil
}

func (writtenDisk) list(string) ([]os.DirEntry, error) { return nil, fs.ErrNotExist }

func (writtenDisk) exists(string) bool { return false }

func (writtenDisk) tracked(string, bool) ([]string, bool) { return nil, true }

// GitRuns implements shell.Files.
func (writtenDisk) GitRuns(string) ([]string, bool) { return nil, true }

// Folder implements shell.Files.
func (writtenDisk) Folder(string) bool { return true }

// Repository implements shell.Files.
func (writtenDisk) Repository(string) bool { return true }

// ProjectRuns implements shell.Files.
func (writtenDisk) ProjectRuns(_, _ string) ([]string, bool) { return nil, true }

// Shows implements shell.Files.
func (writtenDisk) Shows(_, _ string) ([]string, bool) { return nil, true }

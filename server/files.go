package server

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/render"
	"github.com/gatelatch/gatelatch/shell"
)

// maxFile is the largest file that a call is compared with.
const maxFile = 512 << 10

// filesOf looks files of a session up, for people to see what a call would
// change: those inside its project, if that is on this machine. An agent names
// the path, so links that lead out and what is no plain file are not followed,
// and what may be secret is not shown.
func filesOf(s *gatelatch.Session) render.Files {
	host, err := os.Hostname()
	if err != nil || s.Host != host || !filepath.IsAbs(s.Project) || filepath.Clean(s.Project) == filepath.Dir(s.Project) {
		return nil
	}
	return func(path string) *render.File {
		name, err := filepath.Rel(s.Project, path)
		if err != nil || !filepath.IsAbs(path) || !filepath.IsLocal(name) || shell.Secret(path) {
			return nil
		}
		root, err := os.OpenRoot(s.Project)
		if err != nil {
			return nil
		}
		defer func() { _ = root.Close() }()
		return readFile(root, name)
	}
}

func readFile(root *os.Root, name string) *render.File {
	info, err := root.Lstat(name)
	switch {
	case os.IsNotExist(err):
		return &render.File{Missing: true}
	case err != nil || !plain(info):
		return nil
	}
	// It may have become a pipe meanwhile: opening must not wait for its writer.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !plain(info) {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(text) > maxFile || !utf8.Valid(text) {
		return nil
	}
	return &render.File{Text: string(text)}
}

func plain(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Size() <= maxFile }

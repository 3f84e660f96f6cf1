package server

import (
	"io"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/render"
	"github.com/gatelatch/gatelatch/shell"
)

// hostname is this machine's; "" if it has none.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// foreign reports whether a request comes from another machine, as far as its
// connection and the name that it asked for tell.
func foreign(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false // a socket of this machine
	}
	asked, err := netip.ParseAddrPort(r.Host)
	return !at.Addr().Unmap().IsLoopback() || err != nil || !asked.Addr().Unmap().IsLoopback()
}

// maxFile is the largest file that a call is compared with.
const maxFile = 512 << 10

// filesOf looks files of a session up, for people to see what a call would
// change: those inside its project, if that is on this machine. An agent names
// the path, so links that lead out and what is no plain file are not followed,
// and what may be secret is not shown.
func filesOf(s *gatelatch.Session) render.Files {
	project := filepath.Clean(s.Project)
	if s.Host == "" || s.Host != hostname() || !filepath.IsAbs(project) || project == filepath.Dir(project) {
		return nil
	}
	return func(path string) *render.File {
		name, err := filepath.Rel(project, path)
		if err != nil || !filepath.IsAbs(path) || !filepath.IsLocal(name) || shell.Secret(path) {
			return nil
		}
		root, err := os.OpenRoot(project)
		if err != nil {
			return nil
		}
		defer func() { _ = root.Close() }()
		f := readFile(root, name)
		if f == nil || f.Missing {
			return f
		}
		// A folder may be a link to another of the project, by a better name.
		if target, err := filepath.EvalSymlinks(path); err != nil || shell.Secret(target) {
			return nil
		}
		return f
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
	// What has another length than it says is written just now, or made up by
	// the system: /proc and /sys look like plain files.
	text, err := io.ReadAll(io.LimitReader(f, info.Size()+1))
	if err != nil || int64(len(text)) != info.Size() || !utf8.Valid(text) {
		return nil
	}
	return &render.File{Text: string(text)}
}

func plain(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Size() <= maxFile }

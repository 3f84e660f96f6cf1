//go:build unix

package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// openPlain neither follows a link nor waits for the other end of a pipe.
const openPlain = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// readSafely reads a file that only its owner can write, who is the user or
// root, or root alone: who can write the rules can allow anything. What is
// checked is the open file, not its name.
func readSafely(path string, rootOnly bool) ([]byte, stamp, error) {
	name := filepath.Base(path)
	f, err := os.OpenFile(path, openPlain, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) {
		st, _ := look(path)
		return nil, st, fmt.Errorf("%s: is a symbolic link; put the file itself there", name)
	}
	if err != nil {
		return nil, stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, stamp{}, err
	}
	st := stampOf(info)
	if err := private(info, rootOnly); err != nil {
		return nil, st, fmt.Errorf("%s: %w", name, err)
	}
	data, err := readLimited(f, name, maxFile)
	return data, st, err
}

func private(info fs.FileInfo, rootOnly bool) error {
	sys, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("can be written by others (mode %04o); chmod 600 it", info.Mode().Perm())
	case rootOnly && (!ok || sys.Uid != 0):
		return errors.New("does not belong to root")
	case ok && sys.Uid != 0 && int(sys.Uid) != os.Geteuid():
		return errors.New("belongs to somebody else")
	}
	return nil
}

func stampOf(info fs.FileInfo) stamp {
	st := stamp{mod: info.ModTime().UnixNano(), size: info.Size(), mode: info.Mode()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		st.inode = uint64(sys.Ino) //nolint:unconvert // not 64 bits everywhere
		st.owner = sys.Uid
	}
	return st
}

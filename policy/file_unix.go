//go:build unix

package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// readSafely reads a file that only its owner can write: who can write the
// rules can allow anything. What is checked is the open file, not its name.
func readSafely(path string) ([]byte, stamp, error) {
	name := filepath.Base(path)
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
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
	if err := private(info); err != nil {
		return nil, st, fmt.Errorf("%s: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s: larger than %d bytes", name, maxFile)
	}
	return data, st, err
}

func private(info fs.FileInfo) error {
	sys, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("can be written by others (mode %04o); chmod 600 it", info.Mode().Perm())
	case ok && sys.Uid != 0 && int(sys.Uid) != os.Geteuid():
		return errors.New("belongs to somebody else")
	}
	return nil
}

func look(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

func stampOf(info fs.FileInfo) stamp {
	st := stamp{mod: info.ModTime().UnixNano(), size: info.Size(), mode: info.Mode()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		st.inode = uint64(sys.Ino) //nolint:unconvert // not 64 bits everywhere
		st.owner = sys.Uid
	}
	return st
}

//go:build !unix

package policy

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const openPlain = os.O_RDONLY

// readSafely reads a regular file. Who may write it is not checked here: modes
// say nothing about that on this system.
func readSafely(path string, _ bool) ([]byte, stamp, error) {
	st, err := look(path)
	switch {
	case err != nil:
		return nil, st, err
	case st.mode&fs.ModeType != 0:
		return nil, st, fmt.Errorf("%s: is not a regular file", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, st, err
	}
	defer f.Close()
	data, err := readLimited(f, filepath.Base(path), maxFile)
	return data, st, err
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{mod: info.ModTime().UnixNano(), size: info.Size(), mode: info.Mode()}
}

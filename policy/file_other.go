//go:build !unix

package policy

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// readSafely reads a regular file. Who may write it is not checked here: modes
// say nothing about that on this system.
func readSafely(path string) ([]byte, stamp, error) {
	st, err := look(path)
	switch {
	case err != nil:
		return nil, st, err
	case st.mode&fs.ModeType != 0:
		return nil, st, fmt.Errorf("%s: is not a regular file", filepath.Base(path))
	case st.size > maxFile:
		return nil, st, fmt.Errorf("%s: larger than %d bytes", filepath.Base(path), maxFile)
	}
	data, err := os.ReadFile(path)
	return data, st, err
}

func look(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{mod: info.ModTime().UnixNano(), size: info.Size(), mode: info.Mode()}, nil
}

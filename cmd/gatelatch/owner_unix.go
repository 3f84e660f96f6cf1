//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ofSomebodyElse reports whether another user than we or root has a file.
func ofSomebodyElse(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid != 0 && int(st.Uid) != os.Geteuid()
}

// replaceableBy says who but root could put another file at path, "" if nobody
// could.
func replaceableBy(path string) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "can't be looked at"
	}
	for {
		info, err := os.Lstat(path)
		if err != nil {
			return "can't be looked at"
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
			return fmt.Sprintf("can be replaced by user %d, to whom %s belongs", st.Uid, path)
		}
		if perm := info.Mode(); perm.Perm()&0o022 != 0 && perm&os.ModeSticky == 0 {
			return fmt.Sprintf("can be replaced by others, who may write to %s", path)
		}
		if parent := filepath.Dir(path); parent != path {
			path = parent
			continue
		}
		return ""
	}
}

//go:build unix

package filelock

import (
	"fmt"
	"os"
	"syscall"
)

// Lock makes sure that one process has what path stands for. The kernel lets go
// of the lock when the process dies, however it dies.
func Lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrLocked)
	}
	return f, nil
}

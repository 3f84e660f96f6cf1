package redo

import (
	"errors"
	"os"
	"syscall"
)

// datasync leaves out times, which would be a second write each time.
func datasync(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

package filelock

import (
	"fmt"
	"os"
	"syscall"
)

// Lock makes sure that one process has what path stands for: the file is opened
// without sharing.
func Lock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, ErrLocked)
	}
	return os.NewFile(uintptr(h), path), nil
}

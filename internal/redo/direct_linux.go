package redo

import (
	"errors"
	"os"
	"syscall"
)

// direct opens a file so that what is written does not go by the kernel's
// cache, which costs as much as the disk, where the file system can do that.
func direct(name string, block []byte) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_DIRECT, 0)
	if err != nil {
		return os.OpenFile(name, os.O_RDWR, 0)
	}
	// It may say so, and mean larger blocks.
	if _, err = f.ReadAt(block[:blockSize], 0); err == nil {
		_, err = f.WriteAt(block[:blockSize], 0)
	}
	if err == nil {
		err = datasync(f)
	}
	if errors.Is(err, syscall.EINVAL) {
		_ = f.Close()
		return os.OpenFile(name, os.O_RDWR, 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// blocks returns memory that begins where a page does, as such files need it.
func blocks(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func release(b []byte) error { return syscall.Munmap(b) }

// datasync leaves out times, which would be a second write each time.
func datasync(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

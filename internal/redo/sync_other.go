//go:build !linux

package redo

import "os"

func datasync(f *os.File) error { return f.Sync() }

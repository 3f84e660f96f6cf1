//go:build unix

package main

import "syscall"

// keepUmask undoes what restrictFiles does to the process that tests share.
func keepUmask() func() {
	old := syscall.Umask(0o077)
	syscall.Umask(old)
	return func() { syscall.Umask(old) }
}

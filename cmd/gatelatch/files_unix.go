//go:build unix

package main

import "syscall"

// restrictFiles keeps everything the gateway writes for its user alone, and
// its memory out of core dumps and debuggers.
func restrictFiles() {
	syscall.Umask(0o077)
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	undumpable()
}

package main

import "syscall"

// undumpable keeps other processes of the same user from reading our memory,
// where keys and inputs are: only root may attach to us.
func undumpable() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0)
}

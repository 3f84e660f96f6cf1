//go:build unix && !linux

package runner

import "syscall"

func dieWithUs(a *syscall.SysProcAttr) *syscall.SysProcAttr { return a }

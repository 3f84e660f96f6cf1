package runner

import "syscall"

// dieWithUs has the kernel end the agent when we are killed. Elsewhere its
// input ends, which denies whatever it asks.
func dieWithUs(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Pdeathsig = syscall.SIGKILL
	return a
}

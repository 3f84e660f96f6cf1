//go:build unix

package runner

import (
	"os"
	"os/exec"
	"syscall"
)

// separate gives the agent a process group of its own: a key pressed in the
// terminal is for us, who know what the agent is doing.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = dieWithUs(&syscall.SysProcAttr{Setpgid: true})
}

// endGroup ends the agent and what it started.
func endGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// exitCode is what a shell would say: 128 and the signal for who was killed.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

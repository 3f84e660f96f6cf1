//go:build !unix

package hook

import "os/exec"

// ownGroup does nothing: here only the script itself is ended.
func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

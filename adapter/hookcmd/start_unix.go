//go:build unix

package hookcmd

import (
	"os"
	"os/exec"
	"syscall"
)

// startGateway starts a gateway that outlives the hook and its agent. When two
// hooks start one, the lock lets one live.
func startGateway(o options) error {
	if err := o.state.Prepare(); err != nil {
		return err
	}
	log, err := os.OpenFile(o.state.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(o.start, "serve", "--state", string(o.state), "--config", o.config)
	cmd.Stderr, cmd.Dir = log, "/"
	// Not the agent's environment: a project may set variables there.
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

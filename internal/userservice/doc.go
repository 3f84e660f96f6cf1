// Package userservice keeps the gateway running as a service of one user: a
// systemd user unit on Linux, a launchd agent on macOS. The unit for a whole
// machine, which an administrator installs, has the same source.
//
// The texts of the units are pure functions; a Manager runs systemctl or
// launchctl through a function that tests replace. Files are the caller's.
package userservice

// Gateway is the command that the service runs. All paths are absolute: a
// service has neither the directory nor the environment of the shell that
// installed it.
type Gateway struct {
	Program string
	State   string
	Config  string // none if empty
}

// Command returns the program and its arguments.
func (g Gateway) Command() []string {
	command := []string{g.Program, "serve", "--state", g.State}
	if g.Config != "" {
		command = append(command, "--config", g.Config)
	}
	return command
}

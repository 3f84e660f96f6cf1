package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// agentSocket checks where agents of other users are to ask. The state
// directory is ours alone, so that the socket lies elsewhere.
func (c config) agentSocket() (string, error) {
	switch {
	case c.AgentSocket == "" && len(c.AgentUsers) == 0:
		return "", nil
	case c.AgentSocket == "" || len(c.AgentUsers) == 0:
		return "", withHint(errors.New("agent_users and agent_socket go together"), "name the users, and a path that they can reach: agent_socket: /run/gatelatch/agent.sock")
	case !filepath.IsAbs(c.AgentSocket):
		return "", fmt.Errorf("agent_socket: %q needs an absolute path", c.AgentSocket)
	}
	dir := filepath.Dir(c.AgentSocket)
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return "", withHint(err, "make the directory, for you to write and others to enter: mode 0711")
	case !info.IsDir() || info.Mode().Perm()&0o022 != 0:
		return "", withHint(fmt.Errorf("agent_socket: others may write to %s", dir), "chmod go-w "+dir)
	}
	return c.AgentSocket, nil
}

// listenAgents listens where agents ask. Users of other names may connect; who
// they are is checked when they do.
func listenAgents(path string, others []int) (net.Listener, error) {
	ln, err := listenSocket(path)
	if err == nil && len(others) > 0 {
		const everybody = 0o666
		err = os.Chmod(path, everybody)
	}
	return ln, err
}

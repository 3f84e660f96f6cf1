//go:build linux || darwin

package main

import (
	"errors"
	"net"
)

func peerOf(c net.Conn) (p peer, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return peer{}, errors.New("no Unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { p, failed = otherEnd(int(fd)) }); err != nil {
		return peer{}, err
	}
	return p, failed
}

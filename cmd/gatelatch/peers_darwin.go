package main

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

func peerOf(c net.Conn) (peer, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return peer{}, errors.New("no Unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var cred *unix.Xucred
	var pid int
	var failed error
	if err := raw.Control(func(fd uintptr) {
		if cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed == nil {
			pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	}); err != nil {
		return peer{}, err
	}
	if failed != nil {
		return peer{}, failed
	}
	return peer{uid: int(cred.Uid), pid: pid}, nil
}

// processes is nil: what a process descends from is not looked up here.
var processes table

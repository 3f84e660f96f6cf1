package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

func otherEnd(socket int) (peer, error) {
	cred, err := syscall.GetsockoptUcred(socket, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return peer{}, err
	}
	return peer{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
}

var processes table = procfs("/proc")

// procfs is the table of processes as a directory.
type procfs string

func (d procfs) file(pid int, name string) ([]byte, error) {
	return os.ReadFile(string(d) + "/" + strconv.Itoa(pid) + "/" + name)
}

// Fields of stat behind the name of the program, which may have blanks and
// brackets in it.
const (
	statParent = 1
	statStart  = 19
)

func (d procfs) look(pid int) (process, int, error) {
	raw, err := d.file(pid, "stat")
	if err != nil {
		return process{}, 0, err
	}
	f := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(f) <= statStart {
		return process{}, 0, fmt.Errorf("process %d can't be read", pid)
	}
	parent, err := strconv.Atoi(f[statParent])
	if err != nil {
		return process{}, 0, err
	}
	start, err := strconv.ParseUint(f[statStart], 10, 64)
	return process{pid, start}, parent, err
}

func (d procfs) args(pid int) ([]string, error) {
	raw, err := d.file(pid, "cmdline")
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00"), nil
}

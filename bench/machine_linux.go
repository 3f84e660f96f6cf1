package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// fileSystem names what a directory lies on.
func fileSystem(dir string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	names := map[uint32]string{
		0x01021994: "tmpfs", 0x858458f6: "ramfs", 0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x2fc12fc1: "zfs", 0x794c7630: "overlayfs",
	}
	magic := uint32(st.Type)
	if name, ok := names[magic]; ok {
		return name, nil
	}
	return fmt.Sprintf("a file system of type %#x", magic), nil
}

// residentKiB is how much memory a process has.
func residentKiB(pid int) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			return strconv.ParseFloat(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 64)
		}
	}
	return 0, fmt.Errorf("process %d has no VmRSS", pid)
}

// cpuTicks is how much a process has worked.
func cpuTicks(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:]) // from the third on
	user, err := strconv.ParseInt(string(fields[11]), 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(string(fields[12]), 10, 64)
	return user + system, err
}

// mayOpen reports whether a process may have n files open. Go raises the soft
// limit to the hard one by itself, in the gateway too.
func mayOpen(n uint64) error {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return err
	}
	if lim.Max < n {
		return fmt.Errorf("a process may open %d files here, this needs %d: raise it with ulimit -Hn", lim.Max, n)
	}
	return nil
}

// load is what else the machine does: its load average, and how much of its
// time other machines took from it since it started.
func load() (average float64, stolen, total float64) {
	raw, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(raw), &average)
	raw, _ = os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	for i, f := range bytes.Fields(line)[1:] {
		n, _ := strconv.ParseFloat(string(f), 64)
		if total += n; i == 7 {
			stolen = n
		}
	}
	return average, stolen, total
}

// narrow makes a connection that takes little unless it is read: small
// segments, and a small buffer.
func narrow(_, _ string, c syscall.RawConn) error {
	var errs [2]error
	err := c.Control(func(fd uintptr) {
		errs[0] = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536)
		errs[1] = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
	})
	return errors.Join(err, errs[0], errs[1])
}

//go:build linux

package crash

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// strace can inject faults, too, but it counts for each thread by itself, and a
// goroutine changes threads as it likes: the N-th write of a Go program is
// nothing it could name. So the kernel asks us before each write (seccomp's user
// notification); strace only says how many there are.

// points are the system calls by which a gateway changes its files. All have
// the file as their first argument.
var points = map[int32]string{
	unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_FTRUNCATE: "ftruncate",
	unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync",
}

// A point is one such call on a file of the state directory, before it happens.
type point struct {
	n    int // from 1
	call string
	file string // below the state directory
}

func (p point) String() string { return fmt.Sprintf("%d (%s of %s)", p.n, p.call, p.file) }

func (p point) syncs() bool { return p.call == "fsync" || p.call == "fdatasync" }

// tables says that it follows the redo log: what was said does not hang on it.
func (p point) tables() bool { return p.file == "gatelatch.db" || p.file == "gatelatch.db-wal" }

// A fault says what happens at a point: 0 lets the call through, die kills the
// gateway instead of it, anything else is the error of the call.
type fault func(point) syscall.Errno

const die = ^syscall.Errno(0)

// watchedArg makes the test binary become the program whose arguments follow,
// with its points announced to the listener that it sends over descriptor 3.
const watchedArg = "-become-watched"

func runWatched(argv []string) error {
	runtime.LockOSThread() // the filter is this thread's, which execs
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the call's number
	left := uint8(len(points))
	for nr := range points {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: left, K: uint32(nr)})
		left--
	}
	filter = append(filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// WAIT_KILLABLE_RECV: or Go's own signals would announce a call twice.
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("seccomp (Linux 5.19 or newer is needed): %w", errno)
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return err
	}
	unix.CloseOnExec(3)
	return syscall.Exec(argv[0], argv, os.Environ())
}

// A watcher stands beside one watched process.
type watcher struct {
	dir   string // whose files count
	pid   int
	fault fault
	seen  []point
	done  chan struct{} // closed when the process has ended; seen may be read then
	err   error
}

// watch receives the listener from sock and answers until the process ends.
func watch(sock *os.File, dir string, pid int, f fault) *watcher {
	w := &watcher{dir: dir + "/", pid: pid, fault: f, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer sock.Close()
		listener, err := receive(sock)
		if err == nil {
			err = w.answerAll(listener)
			_ = unix.Close(listener)
		}
		w.err = err
	}()
	return w
}

func receive(sock *os.File) (int, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(sock.Fd()), make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) != 1 {
		return 0, errors.Join(errors.New("the watched process sent no listener"), err)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return 0, err
	}
	return fds[0], nil
}

// notification and answer are the kernel's seccomp_notif and seccomp_notif_resp.
type (
	notification struct {
		id         uint64
		tid, flags uint32
		call       struct {
			nr   int32
			arch uint32
			ip   uint64
			args [6]uint64
		}
	}
	answer struct {
		id    uint64
		val   int64
		errno int32
		flags uint32
	}
)

func (w *watcher) answerAll(listener int) error {
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		switch {
		case poll[0].Revents&unix.POLLIN != 0:
		case poll[0].Revents != 0:
			return nil // nobody is left who could call
		default:
			continue
		}
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
			if errno == unix.EINTR || errno == unix.ENOENT { // the caller was interrupted, and will call again
				continue
			}
			return errno
		}
		a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		switch errno := w.judge(&n); errno {
		case 0:
		case die:
			if err := unix.Kill(w.pid, unix.SIGKILL); err != nil {
				return err
			}
			continue
		default:
			a.flags, a.errno = 0, -int32(errno)
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a))); errno != 0 && errno != unix.ENOENT {
			return errno
		}
	}
}

func (w *watcher) judge(n *notification) syscall.Errno {
	file, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.tid, int32(n.call.args[0])))
	if err != nil {
		return 0 // a closed descriptor, which the kernel will refuse
	}
	name, ours := strings.CutPrefix(file+"/", w.dir)
	if !ours {
		return 0
	}
	p := point{n: len(w.seen) + 1, call: points[n.call.nr], file: strings.TrimSuffix(name, "/")}
	if p.file == "" {
		p.file = "."
	}
	w.seen = append(w.seen, p)
	return w.fault(p)
}

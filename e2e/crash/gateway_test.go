//go:build linux

package crash

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/e2e/output"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"golang.org/x/sys/unix"
)

const rules = `version: 1
allow:
  - Bash(pwd)
deny:
  - Bash(rm:*)
`

// A gateway is a "gatelatch serve" with a state of its own, and its deaths.
type gateway struct {
	t      *testing.T
	home   string // also the configuration
	state  statedir.Dir
	store  string // postgres:// URL, or ""
	log    *output.Buffer
	cmd    *exec.Cmd
	pid    int           // of the gateway; cmd may be its tracer
	ready  chan struct{} // closed when it serves, or will never
	serves bool          // valid when ready is closed
	exited chan struct{}
	watch  *watcher // nil if nobody watches
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	return gatewayIn(t, tempDir(t))
}

func gatewayIn(t *testing.T, dir string) *gateway {
	t.Helper()
	g := &gateway{t: t, home: filepath.Join(dir, "home"), state: statedir.Dir(filepath.Join(dir, "state")), log: new(output.Buffer)}
	must(t, os.MkdirAll(g.home, 0o700))
	must(t, os.WriteFile(filepath.Join(g.home, "policy.yaml"), []byte(rules), 0o600))
	return g
}

// start runs the gateway as it is, and returns when it serves.
func (g *gateway) start() {
	g.t.Helper()
	if !g.launch(nil, nil) {
		g.t.Fatalf("the gateway ended instead of serving: %v\n%s", g.cmd.ProcessState, g.log)
	}
}

// startWith runs the gateway with f asked before each write, and reports
// whether it came to serve.
func (g *gateway) startWith(f fault) bool {
	g.t.Helper()
	self, err := os.Executable()
	must(g.t, err)
	return g.launch([]string{self, watchedArg}, f)
}

// launch runs the gateway behind a wrapper.
func (g *gateway) launch(wrapper []string, f fault) bool {
	g.t.Helper()
	bin, err := product()
	must(g.t, err)
	must(g.t, os.WriteFile(filepath.Join(g.home, "config.yaml"), []byte("quota: {asks_per_minute: 0, pending: 0, ask_again_after: 0s}\n"), 0o600)) // it asks without end
	args := slices.Concat(wrapper, []string{bin, "serve", "--json", "--state", string(g.state), "--config", g.home, "--listen", "127.0.0.1:0"})
	if g.store != "" {
		args = append(args, "--store", g.store)
	}
	g.cmd = exec.Command(args[0], args[1:]...)
	g.cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + g.home, "LANG=C.UTF-8"}
	g.cmd.Dir, g.cmd.Stderr = g.home, g.log
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with its tracer
	stdout, err := g.cmd.StdoutPipe()
	must(g.t, err)
	var sock *os.File
	if f != nil {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must(g.t, err)
		theirs := os.NewFile(uintptr(pair[1]), "theirs")
		defer theirs.Close()
		g.cmd.ExtraFiles, sock = []*os.File{theirs}, os.NewFile(uintptr(pair[0]), "ours")
	}
	must(g.t, g.cmd.Start())
	g.watch = nil
	if f != nil {
		g.watch = watch(sock, string(g.state), g.cmd.Process.Pid, f)
	}
	g.follow(stdout)
	<-g.ready
	return g.serves
}

// follow reads the line by which the gateway says that it serves, and waits for
// its end.
func (g *gateway) follow(stdout io.Reader) {
	cmd, watch, ready, exited := g.cmd, g.watch, make(chan struct{}), make(chan struct{})
	g.ready, g.exited, g.pid, g.serves = ready, exited, cmd.Process.Pid, false
	go func() {
		defer close(exited)
		var said struct{ PID int }
		g.serves = json.NewDecoder(stdout).Decode(&said) == nil
		if g.serves {
			g.pid = said.PID
		}
		close(ready)
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait() // how it ended is in ProcessState
		if watch != nil {
			<-watch.done
		}
	}()
	g.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-exited
	})
}

// kill is kill -9: the gateway gets no chance to put anything in order.
func (g *gateway) kill() { g.end(syscall.SIGKILL) }

// stop asks the gateway to end, and fails the test if it does not end well.
func (g *gateway) stop() {
	g.t.Helper()
	g.end(syscall.SIGTERM)
	if !g.cmd.ProcessState.Success() {
		g.t.Errorf("the gateway stopped with %v\n%s", g.cmd.ProcessState, g.log)
	}
}

func (g *gateway) end(sig syscall.Signal) {
	g.t.Helper()
	if err := syscall.Kill(g.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		g.t.Error(err)
	}
	g.waitExit()
}

func (g *gateway) waitExit() {
	g.t.Helper()
	select {
	case <-g.exited:
	case <-time.After(patience):
		g.t.Fatalf("the gateway does not end\n%s", g.log)
	}
	if g.watch != nil && g.watch.err != nil {
		g.t.Fatal(g.watch.err)
	}
}

// killed reports whether the gateway died by SIGKILL.
func (g *gateway) killed() bool {
	s, ok := g.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && s.Signaled() && s.Signal() == syscall.SIGKILL
}

package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/output"
	"github.com/gatelatch/gatelatch/internal/tap"
)

// gateway is a running "gatelatch serve" with a state of its own.
type gateway struct {
	t             *testing.T
	home, tap     string
	state, config string
	url           string // as the gateway itself announced it; "" before the first start
	log           *output.Buffer
	args, env     []string // more of each

	cmd    *exec.Cmd
	exited chan struct{} // closed when cmd has ended
}

// newGateway prepares a gateway that does not run yet.
func newGateway(t *testing.T) *gateway {
	t.Helper()
	dir := tempDir(t)
	g := &gateway{
		t: t, log: new(output.Buffer),
		home: filepath.Join(dir, "home"), tap: filepath.Join(dir, "tap"), state: filepath.Join(dir, "state"), config: filepath.Join(dir, "config"),
	}
	for _, d := range []string{g.home, g.config, g.tap} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(g.asDescribed)
	// Crowds ask more than one agent may.
	if err := os.WriteFile(filepath.Join(g.config, "config.yaml"), []byte("quota: {asks_per_minute: 0, pending: 0, ask_again_after: 0s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

// startGateway runs a gateway with the given policy.yaml, or none if it is empty.
func startGateway(t *testing.T, policy string) *gateway {
	t.Helper()
	g := newGateway(t)
	if policy != "" {
		if err := os.WriteFile(filepath.Join(g.config, "policy.yaml"), []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g.start()
	return g
}

// startDemo runs the product's own demonstration, whose calls wait for ever.
func startDemo(t *testing.T) *gateway {
	t.Helper()
	g := newGateway(t)
	g.launch("demo", "--state", g.state, "--listen", "127.0.0.1:0", "--pace", "10ms")
	return g
}

// start runs the gateway and returns once it listens. A second start uses the
// same port, as people's bookmarks and waiting hooks expect.
func (g *gateway) start() {
	g.t.Helper()
	listen := "127.0.0.1:0"
	if g.url != "" {
		listen = strings.TrimPrefix(g.url, "http://")
	}
	g.launch(append([]string{"serve", "--state", g.state, "--config", g.config, "--listen", listen}, g.args...)...)
}

func (g *gateway) launch(args ...string) {
	g.t.Helper()
	g.cmd = exec.Command(need(g.t, tapped), args...)
	g.cmd.Env = append(cleanEnv(g.home, tap.Dir+"="+g.tap), g.env...)
	g.cmd.Dir = g.home
	g.cmd.Stdout, g.cmd.Stderr = g.log, g.log
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	cmd, exited := g.cmd, make(chan struct{})
	g.exited = exited
	go func() {
		defer close(exited)
		_ = cmd.Wait() // how it ended is in ProcessState
	}()
	g.t.Cleanup(func() { g.end(cmd, exited, os.Kill) })
	g.awaitReady()
}

// awaitReady reads the file that the gateway writes once it listens. An older
// one may be left by a gateway that was killed, so the pid counts.
func (g *gateway) awaitReady() {
	g.t.Helper()
	until(g.t, "the gateway to listen", func() bool {
		select {
		case <-g.exited:
			g.t.Fatalf("the gateway ended instead of listening: %v\n%s", g.cmd.ProcessState, g.log)
		default:
		}
		var ready struct {
			URL string `json:"url"`
			PID int    `json:"pid"`
		}
		b, err := os.ReadFile(filepath.Join(g.state, "run", "gateway.json"))
		if err != nil || json.Unmarshal(b, &ready) != nil || ready.PID != g.cmd.Process.Pid {
			return false
		}
		g.url = ready.URL
		return true
	})
}

// kill is kill -9: the gateway gets no chance to put anything in order.
func (g *gateway) kill() { g.end(g.cmd, g.exited, os.Kill) }

// stop asks the gateway to end, and fails the test if it does not end well.
func (g *gateway) stop() {
	g.t.Helper()
	g.end(g.cmd, g.exited, syscall.SIGTERM)
	if !g.cmd.ProcessState.Success() {
		g.t.Errorf("the gateway stopped with %v\n%s", g.cmd.ProcessState, g.log)
	}
}

func (g *gateway) end(cmd *exec.Cmd, exited <-chan struct{}, sig os.Signal) {
	if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		g.t.Error(err)
	}
	<-exited
}

// cli runs a gatelatch command on this gateway's state and returns its output.
func (g *gateway) cli(args ...string) string {
	g.t.Helper()
	return g.cliEnv(cleanEnv(g.home), args...)
}

func (g *gateway) cliEnv(env []string, args ...string) string {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), need(g.t, product).gatelatch, append(args, "--state", g.state)...)
	cmd.Env, cmd.Dir = env, g.home
	var stderr output.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		g.t.Fatalf("gatelatch %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// loginURL is a link that logs a browser in, once.
func (g *gateway) loginURL() string {
	g.t.Helper()
	return strings.TrimSpace(g.cli("open", "--print"))
}

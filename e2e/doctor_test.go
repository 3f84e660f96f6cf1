package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/output"
)

type diagnosis struct {
	OK     bool
	Checks []struct{ Check, State, Text, Fix string }
	Probe  []struct {
		Channel, Case, Got, Told string
		OK                       bool
	}
	code int
}

// doctor runs "gatelatch doctor" as the agent's user.
func (a *agent) doctor(state string, path []string, args ...string) diagnosis {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), need(a.t, product).gatelatch, append([]string{"doctor", "--json", "--state", state}, args...)...)
	cmd.Dir, cmd.Env = a.project, cleanEnv(a.home, "PATH="+strings.Join(append(path, "/usr/bin", "/bin"), ":"))
	var stderr output.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		a.t.Fatal(err)
	}
	var d diagnosis
	if err := json.Unmarshal(out, &d); err != nil {
		a.t.Fatalf("%v in %s%s", err, out, stderr.String())
	}
	if d.code = cmd.ProcessState.ExitCode(); (d.code == 0) != d.OK {
		a.t.Errorf("exit code %d, but ok is %t", d.code, d.OK)
	}
	return d
}

// says reports whether a check ended like this.
func (d diagnosis) says(state, check, words string) bool {
	for _, c := range d.Checks {
		if c.State == state && c.Check == check && strings.Contains(c.Text, words) {
			return true
		}
	}
	return false
}

func (d diagnosis) String() string {
	var b strings.Builder
	for _, c := range d.Checks {
		fmt.Fprintf(&b, "%s %s: %s (fix: %s)\n", c.State, c.Check, c.Text, c.Fix)
	}
	return b.String()
}

// REL-33, and SEC-27 by "edit": what the real agent does with every answer that a gate may fail to
// give. Nothing that nobody allowed may run.
func TestDoctorProbesTheRealAgent(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	a := gatedAgent(t, g)
	d := a.doctor(g.state, []string{filepath.Dir(a.bin)}, "--probe")
	if !d.OK || !d.says("ok", "gateway", "answers agents and people") || !d.says("ok", "hook", "of this version") {
		t.Errorf("a healthy installation: %s", d)
	}
	seen := map[string]bool{}
	for _, p := range d.Probe {
		seen[p.Channel+": "+p.Case] = p.OK
	}
	want := []string{"no gate: control", "hooks: hook killed", "hooks: hook missing", "hooks: hook hangs", "hooks: hook breaks", "mcp: tool killed"}
	for _, channel := range []string{"hooks", "http", "run", "mcp"} {
		for _, name := range []string{"allow", "deny", "burst", "edit", "slow", "killed", "missing", "garbage"} {
			want = append(want, channel+": "+name)
		}
	}
	for _, name := range want {
		if !seen[name] {
			t.Errorf("%s: not probed, or not as it should be", name)
		}
	}
	g.kill()
	if d := a.doctor(g.state, []string{filepath.Dir(a.bin)}); d.OK || !d.says("fail", "gateway", "every call is blocked") {
		t.Errorf("after the gateway was killed: %s", d)
	}
}

// A hook that lets everything by, in a way that the host takes for no opinion.
func TestProbeOfABrokenHookIsRed(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	a := newAgent(t)
	hook := filepath.Join(tempDir(t), "gatelatch-hook")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ncat >/dev/null\necho fine by me\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Dir(a.bin)
	g.cliEnv(cleanEnv(a.home, "PATH="+path+":/usr/bin:/bin"), "install", "claude", "--yes", "--no-start", "--hook", hook)
	d := a.doctor(g.state, []string{path}, "--probe", "--channel", "hooks", "--only", "deny,missing")
	if d.OK || !d.says("fail", "probe", "deny: a rule denies the call: no ran unasked") || !d.says("fail", "probe", "missing: no gateway runs: wait ran unasked") {
		t.Errorf("a hook that lets everything by: %s", d)
	}
}

// An agent that does nothing at all is not held back by us.
func TestProbeThatSawNothingIsRed(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	a := newAgent(t)
	dir := tempDir(t)
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\necho '2.1.325 (Claude Code)'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := a.doctor(g.state, []string{dir}, "--probe")
	if d.OK || len(d.Probe) != 1 || !d.says("fail", "probe", "nothing was probed") || !strings.Contains(d.String(), "tried 0 of 1 calls") {
		t.Errorf("an agent that does nothing: %s", d)
	}
}

package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/statedir"
)

// patient is a machine for the doctor to look at.
type patient struct{ *sandbox }

func newPatient(t *testing.T) patient {
	t.Helper()
	s := newSandbox(t)
	t.Chdir(s.home)
	pretend := s.run
	s.run = func(ctx context.Context, name string, args ...string) (string, error) {
		if strings.HasSuffix(name, "gatelatch-hook") {
			return "gatelatch-hook version " + version + "\n", s.fail["hook"]
		}
		return pretend(ctx, name, args...)
	}
	return patient{s}
}

func (p patient) state() statedir.Dir {
	return statedir.Dir(filepath.Join(p.home, ".local", "state", "gatelatch"))
}

// look runs the doctor and returns its report, and that the exit code says so.
func (p patient) look(t *testing.T, args ...string) doctorReport {
	t.Helper()
	cmd := doctorCmd(p.system)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(append([]string{"--json"}, args...))
	err := cmd.ExecuteContext(t.Context())
	var r doctorReport
	if e := json.Unmarshal([]byte(out.String()), &r); e != nil {
		t.Fatalf("%v in %s (%v)", e, out.String(), err)
	}
	if (err == nil) != r.OK {
		t.Errorf("the command ends with %v, its report says %t", err, r.OK)
	}
	for _, f := range r.Checks {
		if (f.Fix == "") != (f.State == isOK) {
			t.Errorf("%s: fix %q", f.State, f.Fix)
		}
	}
	return r
}

// says fails the test unless a check ended like this, with these words.
func (r doctorReport) says(t *testing.T, c condition, check, words string) {
	t.Helper()
	for _, f := range r.Checks {
		if f.State == c && f.Check == check && strings.Contains(f.Text+"\n"+f.Fix, words) {
			return
		}
	}
	t.Errorf("no %s %s with %q in %+v", c, check, words, r.Checks)
}

func TestDoctorOfAnEmptyMachine(t *testing.T) {
	p := newPatient(t)
	p.claude = ""
	r := p.look(t)
	r.says(t, isWrong, "claude", "not on PATH")
	r.says(t, isBad, "hooks", "gatelatch install claude")
	r.says(t, isOK, "state", "no gateway has run here yet")
	r.says(t, isWrong, "gateway", "gatelatch serve")
	r.says(t, isOK, "rules", "built-in")
	if got := names(t, p.home); got != "kept" {
		t.Errorf("the doctor left %s", got)
	}
}

func TestDoctorOfAnInstalledMachine(t *testing.T) {
	p := newPatient(t)
	p.must(t, "install", "claude", "--yes")
	r := p.look(t)
	if !r.OK {
		t.Errorf("got %+v", r.Checks)
	}
	r.says(t, isOK, "claude", "2.1.325")
	r.says(t, isOK, "hooks", p.settings())
	r.says(t, isOK, "hook", "of this version")
	r.says(t, isOK, "gateway", "the hook starts one")
	r.says(t, isOK, "drift", "as they were written")
	p.must(t, "install", "claude", "--yes", "--no-start")
	p.look(t).says(t, isBad, "gateway", "every call is blocked")
}

func TestDoctorOfAnOldClaude(t *testing.T) {
	p := newPatient(t)
	p.claude = "2.1.294 (Claude Code)"
	p.look(t).says(t, isBad, "claude", "claude update")
	p.claude = "who knows"
	p.look(t).says(t, isBad, "claude", "not a version")
}

// Every way in which settings let calls by has a line of its own.
func TestDoctorOfSettings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(good string) string
		state  condition
		check  string
		words  string
	}{
		"hooks are off":    {func(s string) string { return strings.Replace(s, "{", `{"disableAllHooks":true,`, 1) }, isBad, "hooks", "disableAllHooks"},
		"fails open":       {func(s string) string { return strings.Replace(s, `"block"`, `"ignore"`, 1) }, isBad, "hooks", "onFailure"},
		"only Bash":        {func(s string) string { return strings.Replace(s, `"*"`, `"Bash"`, 1) }, isBad, "hooks", "every tool"},
		"killed too early": {func(s string) string { return strings.Replace(s, `"timeout": 86400`, `"timeout": 60`, 1) }, isBad, "hooks", "killed before"},
		"no gate":          {func(s string) string { return strings.Replace(s, `"PreToolUse"`, `"Notification"`, 1) }, isBad, "hooks", "no settings"},
		"no lifecycle":     {func(s string) string { return strings.Replace(s, `"SessionEnd"`, `"Notification"`, 1) }, isWrong, "hooks", "no hook for SessionEnd"},
		"not JSON":         {func(s string) string { return s + "," }, isBad, "settings", "skips the whole file"},
		"misshapen":        {func(s string) string { return strings.Replace(s, "{", `{"permissions":3,`, 1) }, isBad, "settings", "skips the whole file"},
		"bypass": {func(s string) string {
			return strings.Replace(s, "{", `{"permissions":{"defaultMode":"bypassPermissions"},`, 1)
		}, isWrong, "modes", "bypassPermissions"},
		"own rules": {func(s string) string { return strings.Replace(s, "{", `{"permissions":{"ask":["Bash"]},`, 1) }, isOK, "rules", "1 rules of Claude Code ask"},
		"others": {func(s string) string {
			return strings.Replace(s, `"PreToolUse": [`, `"PreToolUse": [{"hooks":[{"type":"command","command":"x"}]},`, 1)
		}, isWrong, "hooks", "updatedInput"},
		"elsewhere": {func(s string) string { return strings.ReplaceAll(s, filepath.Join(".local", "state"), "other") }, isWrong, "hook", "not looked at here"},
		"no hook":   {func(s string) string { return strings.ReplaceAll(s, "gatelatch-hook", "gone/gatelatch-hook") }, isBad, "hook", "every call is blocked"},
		"drifted":   {func(string) string { return "{}" }, isBad, "drift", "gatelatch install claude"},
		"tricks": {func(s string) string {
			return strings.Replace(s, "{", `{"permissions":{"defaultMode":"auto"},"x":"\u001b[2J",`, 1)
		}, isWrong, "modes", "auto"},
	} {
		p := newPatient(t)
		p.must(t, "install", "claude", "--yes")
		good := readTestFile(t, p.settings())
		bad := c.change(good)
		if bad == good {
			t.Fatalf("%s: nothing changed", name)
		}
		writeTestFile(t, p.settings(), bad, 0o600)
		t.Log(name)
		p.look(t).says(t, c.state, c.check, c.words)
	}
}

func TestDoctorOfManagedSettings(t *testing.T) {
	p := newPatient(t)
	p.must(t, "install", "claude", "--yes")
	writeTestFile(t, filepath.Join(filepath.Dir(p.managed), "managed-settings.d", "10-x.json"), `{"allowManagedHooksOnly":true}`, 0o644)
	p.look(t).says(t, isBad, "hooks", "shuts our hooks out")

	p.must(t, "install", "claude", "--scope", "managed", "--yes")
	r := p.look(t)
	r.says(t, isOK, "hooks", "in every mode")
	writeTestFile(t, p.settings(), `{"disableAllHooks":true}`, 0o600)
	p.look(t).says(t, isWrong, "hooks", "the managed hooks still run")
}

func TestDoctorOfTwoInstallations(t *testing.T) {
	p := newPatient(t)
	project := filepath.Join(p.home, "project")
	writeTestFile(t, filepath.Join(project, "x"), "", 0o600)
	t.Chdir(project)
	p.must(t, "install", "claude", "--yes")
	p.must(t, "install", "claude", "--yes", "--scope", "local")
	p.look(t).says(t, isWrong, "hooks", "asked about twice")
}

func TestDoctorOfTheHookProgram(t *testing.T) {
	p := newPatient(t)
	p.must(t, "install", "claude", "--yes")
	p.fail["hook"] = context.DeadlineExceeded
	p.look(t).says(t, isBad, "hook", "does not run")
	delete(p.fail, "hook")
	p.run = func(_ context.Context, name string, _ ...string) (string, error) { return name + " version 0.1", nil }
	p.look(t).says(t, isWrong, "hook", "install both programs together")
}

func TestDoctorOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has access lists instead of modes")
	}
	p := newPatient(t)
	if err := p.state().Prepare(); err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, p.state().AgentKey(), "gka_x\n", 0o644)
	writeTestFile(t, filepath.Join(p.home, ".config", "gatelatch", "policy.yaml"), "version: 1\nallow: 7\n", 0o600)
	writeTestFile(t, filepath.Join(p.home, ".config", "gatelatch", "config.yaml"), "lissten: x\n", 0o600)
	r := p.look(t)
	r.says(t, isBad, "keys", "chmod 600")
	r.says(t, isBad, "rules", "policy check")
	r.says(t, isBad, "config", "does not start")
	if err := os.Chmod(string(p.state()), 0o755); err != nil {
		t.Fatal(err)
	}
	p.look(t).says(t, isBad, "state", "open to other users")
}

// SEC-10: a key goes only to a socket that is ours alone.
func TestDoctorOfAForeignSocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has access lists instead of modes")
	}
	p := newPatient(t)
	dir, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ln, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.announce(t, statedir.Gateway{URL: "http://127.0.0.1:1", AgentSocket: filepath.Join(dir, "s"), ApproverSocket: filepath.Join(dir, "s")})
	p.look(t).says(t, isBad, "gateway", "open to other users")
}

func TestDoctorOfAGatewayThatWasKilled(t *testing.T) {
	p := newPatient(t)
	p.must(t, "install", "claude", "--yes", "--no-start")
	p.announce(t, statedir.Gateway{URL: "http://127.0.0.1:1", AgentSocket: filepath.Join(p.home, "none"), ApproverSocket: filepath.Join(p.home, "none")})
	p.look(t).says(t, isBad, "gateway", "the last one ended without saying so")
}

func (p patient) announce(t *testing.T, g statedir.Gateway) {
	t.Helper()
	if err := p.state().Prepare(); err != nil {
		t.Fatal(err)
	}
	if err := p.state().Announce(g); err != nil {
		t.Fatal(err)
	}
}

// A probe that can't begin must not look like one that found nothing.
func TestProbeWithoutAnAgentFails(t *testing.T) {
	p := newPatient(t)
	p.must(t, "install", "claude", "--yes")
	r := p.look(t, "--probe")
	r.says(t, isBad, "probe", "nothing was probed")
	if r.OK || len(r.Probe) != 0 {
		t.Errorf("got %+v", r)
	}
}

// What held with one release of the agent need not hold with the next.
func TestDoctorKnowsWhatWasProbed(t *testing.T) {
	p := newPatient(t)
	p.must(t, "install", "claude", "--yes")
	p.look(t).says(t, isOK, "probe", "none was made yet")
	p.look(t, "--probe") // there is no agent
	p.look(t).says(t, isOK, "probe", "none was made yet")
	d := &doctor{sys: p.system, state: p.state(), claude: "2.1.325 (Claude Code)", channels: allChannels}
	d.remember(true)
	p.look(t).says(t, isOK, "probe", "found nothing wrong")
	p.claude = "2.1.326 (Claude Code)"
	p.look(t).says(t, isWrong, "probe", "gatelatch doctor --probe")
	p.claude = "2.1.325 (Claude Code)"
	d.remember(false)
	p.look(t).says(t, isBad, "probe", "run unasked")
	d.only = []string{"deny"}
	d.remember(true)
	p.look(t).says(t, isBad, "probe", "run unasked")
}

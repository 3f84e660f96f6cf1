package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/output"
)

// ownEtc makes a mount namespace in which /etc can be changed without anybody
// else seeing it, and returns the command line that runs others in there.
func ownEtc(t *testing.T) []string {
	t.Helper()
	dir := tempDir(t)
	unshare, enter := []string{"unshare", "--mount"}, []string{"--mount"}
	if os.Geteuid() != 0 {
		unshare, enter = append(unshare, "--map-root-user"), []string{"--mount", "--user", "--preserve-credentials"}
	}
	cmd := exec.Command(unshare[0], append(unshare[1:], "sh", "-ec", `
		mount -t tmpfs tmpfs "$1"
		mkdir "$1/up" "$1/work"
		mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/up,workdir=$1/work" /etc
		rm -rf /etc/claude-code
		echo ready
		cat >/dev/null
	`, "sh", dir)...)
	in, err := cmd.StdinPipe() // it ends with this
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr output.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("can't make a mount namespace (it needs root, or user namespaces): %q, %v, %s", line, err, stderr.String())
	}
	return append(append([]string{"nsenter", "--target", strconv.Itoa(cmd.Process.Pid)}, enter...), "--")
}

// program writes a program that runs another one inside.
func program(t *testing.T, dir, name string, inside []string, bin string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	text := "#!/bin/sh\nexec " + strings.Join(inside, " ") + ` sh -c 'cd "$1" && shift && exec "$@"' sh "$PWD" ` + bin + ` "$@"` + "\n"
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

// Managed settings hold where a user's hooks don't run, and shut other hooks
// out; without them everything is as it was.
func TestManagedSettingsHoldInEveryMode(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\ndeny: [\"Bash(touch no)\"]\n")
	a := newAgent(t)
	inside, bin := ownEtc(t), tempDir(t)
	original := a.bin
	a.bin = program(t, bin, "claude", inside, original)
	gatelatch := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program(t, bin, "gl", inside, need(t, product).gatelatch), append(args, "--state", g.state)...)
		cmd.Env, cmd.Dir = cleanEnv(a.home, "PATH="+filepath.Dir(original)+":/usr/bin:/bin"), a.project
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("gatelatch %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	other := filepath.Join(tempDir(t), "ran")
	if err := os.Mkdir(filepath.Join(a.home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	a.writeJSON(a.settingsFile(), settings{"hooks": map[string]any{"PreToolUse": []any{
		map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command", "command": "touch " + other}}},
	}}})

	gatelatch("install", "claude", "--scope", "managed", "--yes", "--no-start")
	if out := gatelatch("doctor"); !strings.Contains(out, "asked about, in every mode") {
		t.Errorf("the doctor says %s", out)
	}
	// Its agent must not meet these settings, or it would ask this gateway.
	if out := gatelatch("doctor", "--probe", "--channel", "hooks", "--only", "allow,missing"); strings.Count(out, "ok    probe") != 3 {
		t.Errorf("the probe says %s", out)
	}
	asked := func() int { return strings.Count(g.cli("log"), "call.proposed") }
	if n := asked(); n != 0 {
		t.Errorf("the probe asked the real gateway about %d calls", n)
	}
	modes := [][]string{
		{"--safe-mode", wouldRun},
		{"--bare", wouldRun},
		{"--settings", `{"disableAllHooks":true}`, wouldRun},
		{"--dangerously-skip-permissions"},
	}
	for _, args := range modes {
		wantDone(t, a.printEnv([]string{"IS_SANDBOX=1"}, touch("no"), args...).result())
		if a.made("no") {
			t.Fatalf("%v: the denied call ran", args)
		}
	}
	if n := asked(); n != len(modes) {
		t.Errorf("the gateway was asked %d times in %d modes", n, len(modes))
	}
	if exists(other) {
		t.Error("a hook that is not managed ran, too")
	}

	gatelatch("uninstall", "claude", "--scope", "managed", "--yes")
	wantDone(t, a.print(touch("no"), wouldRun).result())
	if !a.made("no") || !exists(other) {
		t.Errorf("after uninstalling, the call ran: %t, the other hook ran: %t", a.made("no"), exists(other))
	}
}

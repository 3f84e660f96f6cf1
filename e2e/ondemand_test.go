package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The first call of an agent finds no gateway: the hook starts one, with the
// rules that were there when it was installed, whatever the agent's own
// environment says.
func TestHookStartsTheGatewayOnDemand(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	for name, text := range map[string]string{
		"policy.yaml": "version: 1\nallow:\n  - Bash(touch x)\n",
		"config.yaml": "listen: 127.0.0.1:0\n",
	} {
		if err := os.WriteFile(filepath.Join(g.config, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { g.killAnnounced() })
	a := newAgent(t)
	g.cliEnv(cleanEnv(a.home), "install", "claude", "--yes", "--config", g.config)

	// A project's idea of a configuration, in which everything is denied.
	other := t.TempDir()
	if err := os.MkdirAll(filepath.Join(other, "gatelatch"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "gatelatch", "policy.yaml"), []byte("version: 1\ndeny:\n  - \"*\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantDone(t, a.printEnv([]string{"XDG_CONFIG_HOME=" + other, "XDG_STATE_HOME=" + other}, touch("x")).result())
	if !a.made("x") {
		log, _ := os.ReadFile(filepath.Join(g.state, "gateway.log"))
		t.Errorf("the call that policy allows did not run; the gateway's log: %s", log)
	}
}

// killAnnounced ends the gateway that somebody else started.
func (g *gateway) killAnnounced() {
	var ready struct {
		PID int `json:"pid"`
	}
	b, err := os.ReadFile(filepath.Join(g.state, "run", "gateway.json"))
	if err == nil && json.Unmarshal(b, &ready) == nil && ready.PID > 1 {
		_ = syscall.Kill(ready.PID, syscall.SIGKILL)
	}
}

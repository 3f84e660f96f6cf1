package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// SEC-32: rules are put in force as a whole, noted, and never over what a
// person refused.
func TestPolicyApply(t *testing.T) {
	opt := testGateway(t)
	if out := mustRun(t, opt, "policy", "show"); !strings.Contains(out, "version: 1") {
		t.Errorf("show: %s", out)
	}
	refused := ask(t, opt, "m1", "git push origin main").Calls[0]
	mustRun(t, opt, "deny", refused.ID)

	wide := rulesFile(t, "allow: ['Bash(git push:*)']\n")
	out, err := command(t, opt, "policy", "apply", wide, "--yes")
	if err == nil || !strings.Contains(err.Error(), "that a person refused") || !strings.Contains(out, "wider") {
		t.Errorf("rules over a refusal: %v\n%s", err, out)
	}
	good := rulesFile(t, "allow: ['Bash(cargo build:*)']\n")
	if out, err := command(t, opt, "policy", "apply", good); err == nil {
		t.Errorf("applied without being asked: %s", out)
	}
	if out := mustRun(t, opt, "policy", "apply", good, "--dry-run"); !strings.Contains(out, "nothing was written") {
		t.Errorf("dry run: %s", out)
	}
	if c := ask(t, opt, "m2", "cargo build --release").Calls[0]; c.State != gatelatch.Pending {
		t.Errorf("before: %s", c.State)
	}
	mustRun(t, opt, "policy", "apply", good, "--yes")
	if c := ask(t, opt, "m3", "cargo build --release").Calls[0]; c.State != gatelatch.Allowed {
		t.Errorf("after: %s", c.State)
	}
	if out := mustRun(t, opt, "policy", "apply", good, "--yes"); !strings.Contains(out, "already") && !strings.Contains(out, "same") {
		t.Errorf("again: %s", out)
	}
	if _, err := command(t, opt, "policy", "apply", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no file was applied")
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// SEC-33: settings that no longer ask are noticed, whoever changed them.
func TestDrift(t *testing.T) {
	dir := statedir.Dir(filepath.Join(t.TempDir(), "state"))
	file := filepath.Join(t.TempDir(), "settings.json")
	hook := hostconfig.Hook{Command: "/opt/gatelatch-hook", Args: []string{"claude"}, Timeout: 60}
	good, err := hostconfig.Claude([]byte(`{"model":"x"}`), hook)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, string(good))
	if err := (installed{file, hook}).save(dir); err != nil {
		t.Fatal(err)
	}
	var noted []gatelatch.EventKind
	d := &drift{dir: dir, note: func(_ context.Context, k gatelatch.EventKind, _ any) error { noted = append(noted, k); return nil }}
	look := func() string {
		t.Helper()
		noted = nil
		if err := d.check(t.Context()); err != nil {
			t.Fatal(err)
		}
		return d.Problem()
	}
	if p := look(); p != "" || len(noted) != 0 {
		t.Errorf("as it was written: %q, %v", p, noted)
	}
	for name, text := range map[string]string{
		"the hooks are gone":     `{"model":"x"}`,
		"another program":        strings.ReplaceAll(string(good), "/opt/gatelatch-hook", "/tmp/gatelatch-hook"),
		"another limit":          strings.ReplaceAll(string(good), `60`, `1`),
		"hooks are switched off": strings.Replace(string(good), `{`, `{"disableAllHooks": true,`, 1),
		"no JSON":                `{`,
		"empty":                  ``,
	} {
		writeFile(t, file, text)
		if p := look(); !strings.Contains(p, file) || len(noted) != 1 || noted[0] != gatelatch.HostDrifted {
			t.Errorf("%s: %q, %v", name, p, noted)
		}
		if look(); len(noted) != 0 {
			t.Errorf("%s is noted again: %v", name, noted)
		}
		writeFile(t, file, strings.Replace(string(good), `"x"`, `"y"`, 1))
		if p := look(); p != "" || len(noted) != 1 || noted[0] != gatelatch.HostMended {
			t.Errorf("%s, mended: %q, %v", name, p, noted)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if p := look(); !strings.Contains(p, "gone") {
		t.Errorf("without the file: %q", p)
	}
	if err := forgetInstalled(dir, file); err != nil {
		t.Fatal(err)
	}
	if p := look(); p != "" {
		t.Errorf("uninstalled: %q", p)
	}
}

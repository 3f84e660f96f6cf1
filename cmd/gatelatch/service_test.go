package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func (s *sandbox) unit() string {
	return filepath.Join(s.home, ".config", "systemd", "user", "gatelatch.service")
}

func TestServiceInstallAndUninstall(t *testing.T) {
	s := newSandbox(t)
	s.must(t, "service", "install")
	unit := readTestFile(t, s.unit())
	for _, want := range []string{"ExecStart=" + filepath.Join(s.bin, "gatelatch") + " serve --state ", "UMask=0077", `home dir/.local/state/gatelatch"`} {
		if !strings.Contains(filepath.ToSlash(unit), filepath.ToSlash(want)) {
			t.Errorf("got no %q in\n%s", want, unit)
		}
	}
	s.must(t, "service", "install", "--state", filepath.Join(s.home, "s"))
	s.must(t, "service", "uninstall")
	want := []string{
		"systemctl --user daemon-reload", "systemctl --user enable --now gatelatch.service",
		"systemctl --user daemon-reload", "systemctl --user try-restart gatelatch.service", "systemctl --user enable --now gatelatch.service",
		"systemctl --user disable --now gatelatch.service", "systemctl --user daemon-reload",
	}
	if !slices.Equal(s.ran, want) {
		t.Errorf("got %q, want %q", s.ran, want)
	}
	if _, err := os.Stat(s.unit()); err == nil {
		t.Error("the unit is still there")
	}
	if out := s.must(t, "service", "uninstall"); !strings.Contains(out, "not installed") {
		t.Errorf("got %s", out)
	}
}

func TestServiceInstallWithoutAUserBus(t *testing.T) {
	s := newSandbox(t)
	s.fail["systemctl --user daemon-reload"] = errors.New("Failed to connect to bus: No medium found")
	s.refused(t, "run later: systemctl --user daemon-reload && systemctl --user enable --now gatelatch.service", "service", "install")
	s.refused(t, "no user session of systemd", "service", "install")
	out := s.must(t, "service", "install", "--no-enable", "--json")
	var got serviceReport
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.File != s.unit() || got.Enabled || !strings.Contains(got.Next, "enable --now") {
		t.Errorf("got %+v", got)
	}
	s.fail["systemctl --user disable --now gatelatch.service"] = s.fail["systemctl --user daemon-reload"]
	_, stderr, err := s.do(t, "", "service", "uninstall")
	if err != nil || !strings.Contains(stderr, "warning: ") {
		t.Errorf("got %v, %q", err, stderr)
	}
	if _, err := os.Stat(s.unit()); err == nil {
		t.Error("the unit is still there")
	}
}

func TestServicePrint(t *testing.T) {
	s := newSandbox(t)
	out := s.must(t, "service", "install", "--print", "--config", filepath.Join(s.home, "c"))
	if !strings.Contains(out, "[Service]") || !strings.Contains(out, "--config") || len(s.ran) > 0 {
		t.Errorf("got %s after %q", out, s.ran)
	}
	if _, err := os.Stat(s.unit()); err == nil {
		t.Error("the unit was written")
	}
	s.goos = "darwin"
	if out := s.must(t, "service", "install", "--print"); !strings.Contains(out, "<key>Label</key>") {
		t.Errorf("got %s", out)
	}
}

func TestServiceLeavesTheUnitsOfOthers(t *testing.T) {
	s := newSandbox(t)
	writeTestFile(t, s.unit(), "[Service]\n", 0o600)
	s.refused(t, "was not written by gatelatch", "service", "install")
	s.refused(t, "was not written by gatelatch", "service", "uninstall")
	if got := readTestFile(t, s.unit()); got != "[Service]\n" || len(s.ran) > 0 {
		t.Errorf("got %q after %q", got, s.ran)
	}
}

func TestServiceStatus(t *testing.T) {
	s := newSandbox(t)
	if out := s.must(t, "service", "status"); !strings.Contains(out, "not installed") {
		t.Errorf("got %s", out)
	}
	s.must(t, "service", "install", "--no-enable")
	s.fail["systemctl --user is-enabled gatelatch.service"] = errors.New("disabled")
	s.fail["systemctl --user is-active gatelatch.service"] = errors.New("inactive")
	if out := s.must(t, "service", "status"); !strings.Contains(out, ": disabled, inactive") {
		t.Errorf("got %s", out)
	}
	var got statusReport
	if err := json.Unmarshal([]byte(s.must(t, "service", "status", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Installed || got.Enabled != "disabled" || got.Active != "inactive" {
		t.Errorf("got %+v", got)
	}
	s.fail["systemctl --user is-enabled gatelatch.service"] = errors.New("Failed to connect to bus: No medium found")
	if out := s.must(t, "service", "status"); !strings.Contains(out, "unknown, unknown") || !strings.Contains(out, "No medium") {
		t.Errorf("got %s", out)
	}
}

func TestServiceOnWindows(t *testing.T) {
	s := newSandbox(t)
	s.goos = "windows"
	for _, verb := range []string{"install", "uninstall", "status"} {
		s.refused(t, "Task Scheduler", "service", verb)
	}
}

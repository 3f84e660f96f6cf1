package userservice

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fake records command lines and answers those it knows.
type fake struct {
	lines   []string
	answers map[string]answer
}

type answer struct {
	out string
	err error
}

func (f *fake) run(_ context.Context, name string, args ...string) (string, error) {
	line := strings.Join(append([]string{name}, args...), " ")
	f.lines = append(f.lines, line)
	a := f.answers[line]
	return a.out, a.err
}

var errExit = errors.New("exit status 1")

func manager(goos string, f *fake) Manager {
	return Manager{GOOS: goos, Home: "/home/ada", ConfigHome: "/home/ada/.config", UID: 501, Run: f.run}
}

func TestManagerCommands(t *testing.T) {
	plist := filepath.Join("/home/ada", "Library", "LaunchAgents", "dev.gatelatch.gateway.plist")
	for name, c := range map[string]struct {
		goos string
		do   func(Manager) error
		want []string
	}{
		"linux enable": {"linux", func(m Manager) error { return m.Enable(t.Context(), false) },
			[]string{"systemctl --user daemon-reload", "systemctl --user enable --now gatelatch.service"}},
		"linux enable anew": {"linux", func(m Manager) error { return m.Enable(t.Context(), true) },
			[]string{"systemctl --user daemon-reload", "systemctl --user try-restart gatelatch.service", "systemctl --user enable --now gatelatch.service"}},
		"linux disable": {"linux", func(m Manager) error { return errors.Join(m.Disable(t.Context()), m.Forget(t.Context())) },
			[]string{"systemctl --user disable --now gatelatch.service", "systemctl --user daemon-reload"}},
		"darwin enable": {"darwin", func(m Manager) error { return m.Enable(t.Context(), false) },
			[]string{"launchctl print gui/501/dev.gatelatch.gateway", "launchctl bootout gui/501/dev.gatelatch.gateway", "launchctl bootstrap gui/501 " + plist}},
		"darwin disable": {"darwin", func(m Manager) error { return errors.Join(m.Disable(t.Context()), m.Forget(t.Context())) },
			[]string{"launchctl print gui/501/dev.gatelatch.gateway", "launchctl bootout gui/501/dev.gatelatch.gateway"}},
	} {
		f := &fake{}
		if err := c.do(manager(c.goos, f)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(f.lines, c.want) {
			t.Errorf("%s: got %q, want %q", name, f.lines, c.want)
		}
	}
}

func TestLaunchdThatIsNotLoaded(t *testing.T) {
	f := &fake{answers: map[string]answer{"launchctl print gui/501/dev.gatelatch.gateway": {"Could not find service", errExit}}}
	if err := manager("darwin", f).Disable(t.Context()); err != nil || len(f.lines) != 1 {
		t.Errorf("got %v after %q", err, f.lines)
	}
}

func TestManagerThatIsNotThere(t *testing.T) {
	for name, a := range map[string]answer{
		"no systemctl":   {"", fmt.Errorf("start: %w", &exec.Error{Name: "systemctl", Err: exec.ErrNotFound})},
		"no bus":         {"Failed to connect to bus: No medium found\n", errExit},
		"no user bus":    {"Failed to connect to user scope bus via local transport: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined\n", errExit},
		"not by systemd": {"System has not been booted with systemd as init system (PID 1). Can't operate.\nFailed to connect to bus\n", errExit},
	} {
		f := &fake{answers: map[string]answer{"systemctl --user daemon-reload": a, "systemctl --user is-enabled gatelatch.service": a}}
		if err := manager("linux", f).Enable(t.Context(), false); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: enable: got %v", name, err)
		}
		if _, err := manager("linux", f).Status(t.Context()); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: status: got %v", name, err)
		}
	}
	f := &fake{answers: map[string]answer{"systemctl --user daemon-reload": {"Access denied\n", errExit}}}
	err := manager("linux", f).Enable(t.Context(), false)
	if errors.Is(err, ErrUnavailable) || err == nil || !strings.Contains(err.Error(), "Access denied") {
		t.Errorf("refused: got %v", err)
	}
}

func TestStatus(t *testing.T) {
	const enabled, active = "systemctl --user is-enabled gatelatch.service", "systemctl --user is-active gatelatch.service"
	const show = "launchctl print gui/501/dev.gatelatch.gateway"
	for name, c := range map[string]struct {
		goos    string
		answers map[string]answer
		want    Status
	}{
		"running":         {"linux", map[string]answer{enabled: {"enabled\n", nil}, active: {"active\n", nil}}, Status{"enabled", "active"}},
		"failed":          {"linux", map[string]answer{enabled: {"disabled\n", errExit}, active: {"failed\n", errExit}}, Status{"disabled", "failed"}},
		"no unit":         {"linux", map[string]answer{enabled: {"Failed to get unit file state\n", errExit}, active: {"inactive\n", errExit}}, Status{"unknown", "inactive"}},
		"launchd running": {"darwin", map[string]answer{show: {"x = {\n\tstate = running\n}\n", nil}}, Status{"enabled", "active"}},
		"launchd waiting": {"darwin", map[string]answer{show: {"x = {\n\tstate = waiting\n}\n", nil}}, Status{"enabled", "inactive"}},
		"launchd none":    {"darwin", map[string]answer{show: {"Could not find service", errExit}}, Status{"disabled", "inactive"}},
	} {
		got, err := manager(c.goos, &fake{answers: c.answers}).Status(t.Context())
		if err != nil || got != c.want {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, c.want)
		}
	}
}

func TestFile(t *testing.T) {
	got, err := manager("linux", &fake{}).File()
	if want := filepath.Join("/home/ada/.config", "systemd", "user", "gatelatch.service"); got != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	for goos, want := range map[string]string{"windows": "Task Scheduler", "freebsd": "gatelatch serve"} {
		if _, err := manager(goos, &fake{}).File(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", goos, err)
		}
	}
}

package userservice

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Runner runs a program and returns what it printed, on either stream.
type Runner func(ctx context.Context, name string, args ...string) (string, error)

// Manager is a user's service manager.
type Manager struct {
	GOOS       string
	Home       string
	ConfigHome string // of systemd; on Linux only
	UID        int
	Run        Runner
}

var (
	// ErrUnsupported tells that this system has no service manager we know.
	ErrUnsupported = errors.New("not supported on this system yet")
	// ErrUnavailable tells that the manager cannot be reached from here.
	ErrUnavailable = errors.New("service manager is not available here")
)

// Status is what the manager says about the service.
type Status struct {
	Enabled string `json:"enabled"` // "enabled", "disabled", …
	Active  string `json:"active"`  // "active", "inactive", "failed", …
}

// File returns where the unit belongs.
func (m Manager) File() (string, error) {
	switch m.GOOS {
	case "linux":
		return filepath.Join(m.ConfigHome, "systemd", "user", SystemdName), nil
	case "darwin":
		return filepath.Join(m.Home, "Library", "LaunchAgents", LaunchdLabel+".plist"), nil
	case "windows":
		return "", fmt.Errorf("services are %w: on Windows, let Task Scheduler run \"gatelatch serve\" at log on", ErrUnsupported)
	}
	return "", fmt.Errorf("services are %w: start \"gatelatch serve\" from what starts your session (%s)", ErrUnsupported, m.GOOS)
}

// Unit returns the text that belongs there.
func (m Manager) Unit(g Gateway) (string, error) {
	if m.GOOS == "darwin" {
		return Launchd(g, filepath.Join(m.Home, "Library", "Logs", "gatelatch.log"))
	}
	return Systemd(g)
}

// Enable starts the service, now and at each login. With restart, one that
// runs already takes up the new unit.
func (m Manager) Enable(ctx context.Context, restart bool) error {
	if m.GOOS == "darwin" {
		file, err := m.File()
		if err != nil {
			return err
		}
		// It refuses to load what is loaded.
		if err := m.Disable(ctx); err != nil {
			return err
		}
		return m.run(ctx, "launchctl", "bootstrap", m.domain(), file)
	}
	if err := m.run(ctx, "systemctl", "--user", "daemon-reload"); err != nil {
		return err
	}
	if restart {
		if err := m.run(ctx, "systemctl", "--user", "try-restart", SystemdName); err != nil {
			return err
		}
	}
	return m.run(ctx, "systemctl", "--user", "enable", "--now", SystemdName)
}

// Disable stops the service, now and for the future. The file must still be
// there; Forget follows when it is gone.
func (m Manager) Disable(ctx context.Context) error {
	if m.GOOS == "darwin" {
		status, err := m.launchdStatus(ctx)
		if err != nil || status.Enabled != "enabled" {
			return err // it refuses to unload what is not loaded
		}
		return m.run(ctx, "launchctl", "bootout", m.target())
	}
	return m.run(ctx, "systemctl", "--user", "disable", "--now", SystemdName)
}

// Forget tells the manager that the file is gone.
func (m Manager) Forget(ctx context.Context) error {
	if m.GOOS == "darwin" {
		return nil
	}
	return m.run(ctx, "systemctl", "--user", "daemon-reload")
}

// Later returns the line that does what Enable does, for a person to run.
func (m Manager) Later() string {
	if m.GOOS == "darwin" {
		return fmt.Sprintf("launchctl bootstrap %s ~/Library/LaunchAgents/%s.plist", m.domain(), LaunchdLabel)
	}
	return "systemctl --user daemon-reload && systemctl --user enable --now " + SystemdName
}

// Status asks the manager.
func (m Manager) Status(ctx context.Context) (Status, error) {
	if m.GOOS == "darwin" {
		return m.launchdStatus(ctx)
	}
	// Both answer with a word, and fail if it is not the good one.
	enabled, err := m.Run(ctx, "systemctl", "--user", "is-enabled", SystemdName)
	if unreachable := m.unavailable(enabled, err); unreachable != nil {
		return Status{}, unreachable
	}
	active, err := m.Run(ctx, "systemctl", "--user", "is-active", SystemdName)
	if unreachable := m.unavailable(active, err); unreachable != nil {
		return Status{}, unreachable
	}
	return Status{Enabled: word(enabled), Active: word(active)}, nil
}

func (m Manager) launchdStatus(ctx context.Context) (Status, error) {
	out, err := m.Run(ctx, "launchctl", "print", m.target())
	if unreachable := m.unavailable(out, err); unreachable != nil {
		return Status{}, unreachable
	}
	status := Status{Enabled: "enabled", Active: "inactive"}
	if err != nil { // it fails if nothing of that name is loaded
		status.Enabled = "disabled"
	} else if strings.Contains(out, "state = running") {
		status.Active = "active"
	}
	return status, nil
}

func (m Manager) domain() string { return fmt.Sprintf("gui/%d", m.UID) }

func (m Manager) target() string { return m.domain() + "/" + LaunchdLabel }

func (m Manager) run(ctx context.Context, name string, args ...string) error {
	out, err := m.Run(ctx, name, args...)
	if err == nil {
		return nil
	}
	if unreachable := m.unavailable(out, err); unreachable != nil {
		return unreachable
	}
	line := name + " " + strings.Join(args, " ")
	if out = strings.TrimSpace(out); out != "" {
		return fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return fmt.Errorf("%s: %w", line, err)
}

// unavailable tells a manager that is not there from one that refuses.
func (m Manager) unavailable(out string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if err != nil && strings.HasPrefix(first, "Failed to connect to") && strings.Contains(first, "bus") {
		return fmt.Errorf("the user's %w: no user session of systemd: %s", ErrUnavailable, first)
	}
	if err != nil && strings.HasPrefix(first, "System has not been booted with systemd") {
		return fmt.Errorf("the user's %w: %s", ErrUnavailable, first)
	}
	return nil
}

// word keeps one-word answers; anything longer is an excuse.
func word(out string) string {
	words := strings.Fields(out)
	if len(words) != 1 {
		return "unknown"
	}
	return words[0]
}

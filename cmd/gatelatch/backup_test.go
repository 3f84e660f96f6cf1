package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/backup"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
)

// elsewhere is another machine's state directory.
func elsewhere(t *testing.T) gatewayOptions {
	t.Helper()
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	return gatewayOptions{state: statedir.Dir(filepath.Join(tmp, "state")), config: filepath.Join(tmp, "config"), listen: "127.0.0.1:0", log: slog.New(slog.DiscardHandler)}
}

// A copy is made while the gateway runs, and what waited in it waits no more.
func TestBackupAndRestore(t *testing.T) {
	from, to := testGateway(t), elsewhere(t)
	b := ask(t, from, "m1", "git push")
	file := filepath.Join(t.TempDir(), "copy")
	out, err := command(t, from, "backup", file, "--config", from.config)
	if err != nil || !strings.Contains(out, " rows, ") {
		t.Fatalf("backup: %q, %v", out, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %v, %v", info.Mode(), err)
	}
	if _, err := command(t, from, "restore", file, "--config", from.config); err == nil || !strings.Contains(err.Error(), "a gateway runs") || hintOf(err) == "" {
		t.Errorf("restored under a running gateway: %v", err)
	}
	if out, err := command(t, to, "restore", file, "--config", to.config); err != nil || !strings.Contains(out, "gatelatch serve --state "+string(to.state)) {
		t.Fatalf("restore: %q, %v", out, err)
	}
	if _, err := command(t, to, "restore", file, "--config", to.config); !errors.Is(err, backup.ErrNotEmpty) || hintOf(err) == "" {
		t.Errorf("restored twice: %v", err)
	}
	g, err := startGateway(to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.close() }()
	if out, err := command(t, to, "ls"); err != nil || out != "Nothing waits.\n" {
		t.Errorf("ls: %q, %v", out, err)
	}
	if out, err := command(t, to, "show", b.Calls[0].ID); err != nil || !strings.Contains(out, "withdrawn") || !strings.Contains(out, "git push") {
		t.Errorf("show: %q, %v", out, err)
	}
}

// A failed copy leaves the one from before.
func TestBackupOfNothing(t *testing.T) {
	nowhere := elsewhere(t)
	file := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--store", "mysql://x"}} {
		if _, err := command(t, nowhere, append([]string{"backup", file, "--config", nowhere.config}, args...)...); err == nil || hintOf(err) == "" {
			t.Errorf("backup %v: %v", args, err)
		}
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "old" {
		t.Errorf("the file is now %q, %v", raw, err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMovingToPostgresAndBack(t *testing.T) {
	server, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	store := asURL(server.Database(t, "moved"))
	from, there, back := testGateway(t), elsewhere(t), elsewhere(t)
	b := ask(t, from, "m1", "git push")
	file := filepath.Join(t.TempDir(), "copy")
	for _, c := range []struct {
		opt  gatewayOptions
		args []string
	}{
		{from, []string{"backup", file}},
		{there, []string{"restore", file, "--store", store}},
		{there, []string{"backup", file, "--store", store}},
		{back, []string{"restore", file}},
	} {
		if out, err := command(t, c.opt, append(c.args, "--config", c.opt.config)...); err != nil {
			t.Fatalf("%v: %q, %v", c.args, out, err)
		}
	}
	if _, err := command(t, there, "restore", file, "--store", store, "--config", there.config); !errors.Is(err, backup.ErrNotEmpty) || hintOf(err) == "" {
		t.Errorf("restored twice: %v", err)
	}
	g, err := startGateway(back)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.close() }()
	if out, err := command(t, back, "show", b.Calls[0].ID); err != nil || !strings.Contains(out, "withdrawn") {
		t.Errorf("show: %q, %v", out, err)
	}
}

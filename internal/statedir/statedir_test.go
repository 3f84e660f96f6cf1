package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SEC-07: what others could reach into is refused.
func TestPrepareRefuses(t *testing.T) {
	base := t.TempDir()
	for name, build := range map[string]func(path string) error{
		"open to others": func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o755)) },
		"a link": func(p string) error {
			return errors.Join(os.Mkdir(p+"_real", 0o700), os.Symlink(p+"_real", p))
		},
		"an open run directory": func(p string) error {
			return errors.Join(os.MkdirAll(p+"/run", 0o700), os.Chmod(p+"/run", 0o777))
		},
	} {
		path := filepath.Join(base, strings.ReplaceAll(name, " ", "_"))
		if err := build(path); err != nil {
			t.Fatal(err)
		}
		if err := Dir(path).Prepare(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := Dir("relative").Prepare(); err == nil {
		t.Error("a relative path was accepted")
	}
	good := Dir(filepath.Join(base, "deep", "state"))
	for range 2 {
		if err := good.Prepare(); err != nil {
			t.Error(err)
		}
	}
}

func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k")
	if err := os.WriteFile(path+".tmp", []byte("what a killed gateway left"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteKey(path, "gka_x"); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadKey(path); err != nil || got != "gka_x" {
		t.Errorf("%q, %v", got, err)
	}
	if err := WriteKey(path, "gka_y"); err == nil {
		t.Error("overwrote a key")
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), "chmod go=") {
		t.Errorf("a key that others can read: %v", err)
	}
	link := path + "_link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(link); err == nil {
		t.Error("followed a link to a key")
	}
}

func TestGateway(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "s"))
	if err := d.Prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Gateway(); !errors.Is(err, ErrNoGateway) {
		t.Errorf("before: %v", err)
	}
	want := Gateway{PID: 7, URL: "http://127.0.0.1:1", AgentSocket: "/a", ApproverSocket: "/b"}
	if err := d.Announce(want); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Gateway(); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if err := d.Retire(); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, []byte(`{"url":"http://127.0.0.1:2"}`), 0o600), os.Symlink(other, d.gateway()), os.Symlink(other, d.gateway()+".tmp")); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Gateway(); err == nil {
		t.Errorf("followed a link to %+v", got)
	}
	if err := d.Announce(want); err == nil {
		t.Error("wrote through a link")
	}
}

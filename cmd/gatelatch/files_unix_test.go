//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// keepUmask undoes what restrictFiles does to the process that tests share.
func keepUmask() func() {
	old := syscall.Umask(0o077)
	syscall.Umask(old)
	return func() { syscall.Umask(old) }
}

// It names programs that run as us.
func TestConfigurationOfSomebodyElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	writeFile(t, path, "listen: 127.0.0.1:0\n")
	if _, err := loadConfig(dir); err != nil {
		t.Error(err)
	}
	if os.Geteuid() != 0 { // only root can give a file away
		return
	}
	for _, p := range []string{path, dir} {
		if err := os.Chown(p, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := loadConfig(dir); err == nil || !strings.Contains(err.Error(), "belongs to somebody else") {
			t.Errorf("%s: %v", p, err)
		}
		if err := os.Chown(p, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}

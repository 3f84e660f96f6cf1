package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// REL-22: a flipped byte in a body passes SQLite's own checks.
func TestDamagedRowsAreErrors(t *testing.T) {
	for name, damage := range map[string]string{
		"body":  `UPDATE batch SET body = CAST(replace(CAST(body AS TEXT), 'pending', 'allowed') AS BLOB)`,
		"input": `UPDATE input SET bytes = CAST('{"command":"rm"}' AS BLOB)`,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), Options{})
			defer s.Close()
			if err := save(s, pending("m1")); err != nil {
				t.Fatal(err)
			}
			if err := s.writes.do(damage); err != nil {
				t.Fatal(err)
			}
			err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Batch("bat_m1"); return err })
			if err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("reading a damaged row: %v", err)
			}
		})
	}
}

// REL-22: pages that a crash tore are found at the start.
func TestTornPagesAreFound(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "g.db")
	s := open(t, dir, Options{})
	for _, m := range []string{"m1", "m2", "m3"} {
		if err := save(s, pending(m)); err != nil {
			t.Fatal(err)
		}
	}
	var page, size int
	err := s.writes.row(`SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name='batch'`).scan(&page, &size)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(raw[(page-1)*size:][:size/2])
	if err := errors.Join(os.WriteFile(path, raw, 0o600), os.WriteFile(path+"-wal", []byte("left behind"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), path, Options{})
	if err == nil {
		_ = s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("opened with %v", err)
	}
}

package postgres

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/sqlite"
	"github.com/gatelatch/gatelatch/store/storetest"
)

func TestCopiesGoFromStoreToStore(t *testing.T) {
	file := func(t *testing.T, dir string) gatelatch.Store {
		s, err := sqlite.Open(t.Context(), filepath.Join(dir, "g.db"), sqlite.Options{})
		must(t, err)
		return s
	}
	here := func(t *testing.T, dir string) gatelatch.Store { return open(t, dir, Options{}) }
	t.Run("from SQLite", func(t *testing.T) { storetest.Copy(t, file, here) })
	t.Run("to SQLite", func(t *testing.T) { storetest.Copy(t, here, file) })
}

// A copy of the database beside its gateways is theirs, and leaves an empty
// database empty.
func TestBackupBesideGateways(t *testing.T) {
	dir := t.TempDir()
	if err := BackupDatabase(t.Context(), database(t, dir), io.Discard); err == nil || !strings.Contains(err.Error(), "schema 0") {
		t.Errorf("of nothing: %v", err)
	}
	sql(t, dir, `CREATE TABLE gatelatch_schema (version int PRIMARY KEY)`)
	s := open(t, dir, Options{})
	must(t, save(s, pending("m1")))
	var beside, own bytes.Buffer
	must(t, errors.Join(BackupDatabase(t.Context(), database(t, dir), &beside), s.Backup(t.Context(), &own)))
	if beside.String() != own.String() || beside.Len() == 0 {
		t.Error("a copy from outside is not the gateway's own")
	}
}

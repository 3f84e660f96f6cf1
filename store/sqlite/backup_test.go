package sqlite

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"
)

// A copy is made beside the gateway that has the file open, and of a file that
// nobody has open.
func TestBackupBesideAGateway(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "g.db")
	if err := BackupFile(t.Context(), path, io.Discard); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	s := open(t, dir, Options{})
	if err := save(s, pending("m1")); err != nil {
		t.Fatal(err)
	}
	var beside, own, after bytes.Buffer
	err := errors.Join(BackupFile(t.Context(), path, &beside), s.Backup(t.Context(), &own), save(s, pending("m2")), s.Close(),
		BackupFile(t.Context(), path, &after))
	if err != nil {
		t.Fatal(err)
	}
	if beside.String() != own.String() || beside.Len() == 0 {
		t.Error("a copy from outside is not the gateway's own")
	}
	if n := bytes.Count(after.Bytes(), []byte(`"table":"batch"`)); n != 2 {
		t.Errorf("%d batches in the copy of a closed file, want 2", n)
	}
	open(t, dir, Options{}).Close()
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/filelock"
	"github.com/gatelatch/gatelatch/store/storetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dir string, opt Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), filepath.Join(dir, "g.db"), opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	here := func(t *testing.T, dir string) gatelatch.Store { return open(t, dir, Options{}) }
	storetest.Run(t, here)
	storetest.RunCopies(t, here)
}

func save(s *Store, b *gatelatch.Batch) error {
	return s.Update(context.Background(), func(tx gatelatch.Tx) error { return tx.SaveBatch(b) })
}

func pending(message string) *gatelatch.Batch { return asking(message, "", "ls") }

func asking(message, ref, command string) *gatelatch.Batch {
	by := gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}
	b := &gatelatch.Batch{ID: "bat_" + message, Agent: by.ID, Session: "s", Message: message, Created: time.Now()}
	c := &gatelatch.Call{ID: "cal_" + message, Ref: ref, Kind: gatelatch.Permission, Tool: "Bash", Input: fmt.Appendf(nil, `{"command":%q}`, command)}
	b.Propose(c, by, time.Now())
	_ = b.Judge(c, gatelatch.Verdict{Effect: gatelatch.Ask}, time.Now())
	return b
}

// T11: a failed commit must not cost the events of the batch.
func TestFailedCommitKeepsEvents(t *testing.T) {
	full := errors.New("disk full")
	var fault error
	s := open(t, t.TempDir(), Options{fault: func() error { return fault }})
	defer s.Close()
	b := pending("m1")
	fault = full
	if err := save(s, b); !errors.Is(err, full) {
		t.Fatalf("save with a full disk: %v", err)
	}
	fault = nil
	if err := save(s, b); err != nil {
		t.Fatal(err)
	}
	err := s.View(t.Context(), func(r gatelatch.Reader) error {
		es, err := r.Events(0, 10)
		if len(es) != 2 {
			t.Errorf("%d events after the retry, want proposed and judged", len(es))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

type ioError struct{ error }

func (ioError) Code() int { return 10 | 4<<8 } // SQLITE_IOERR_FSYNC

// T14: after a failed fsync nobody knows what is on the disk, so the process
// must not go on as if nothing had happened.
func TestFailedFsyncIsFatal(t *testing.T) {
	var fault, fatal error
	s := open(t, t.TempDir(), Options{fault: func() error { return fault }, Fatal: func(err error) { fatal = err }})
	defer s.Close()
	fault = errors.New("disk full")
	if err := save(s, pending("m1")); err == nil || fatal != nil {
		t.Errorf("a full disk: %v, fatal %v", err, fatal)
	}
	fault = ioError{errors.New("fsync")}
	if err := save(s, pending("m2")); err == nil || !errors.Is(fatal, fault) {
		t.Errorf("a failed fsync: %v, fatal %v", err, fatal)
	}
}

// After a failed statement SQLite may have left the transaction. Nothing of
// the group may then be written, least of all without its audit events.
func TestFailedStatementFailsTheGroup(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	defer s.Close()
	defer s.Close()
	err := s.Update(t.Context(), func(t gatelatch.Tx) error {
		if err := t.SaveBatch(pending("m1")); err != nil {
			return err
		}
		_ = t.(*tx).run(`INSERT INTO no_such_table VALUES (1)`)
		return nil // a caller that overlooks the error changes nothing
	})
	if err == nil {
		t.Fatal("a failed statement was a success")
	}
	var n int
	if err := s.writes.row(`SELECT (SELECT COUNT(*) FROM batch) + (SELECT COUNT(*) FROM event)`).scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows were left behind, %v", n, err)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	defer s.Close()
	if _, err := Open(t.Context(), filepath.Join(dir, "g.db"), Options{}); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("second open: %v, want ErrLocked", err)
	}
}

func TestEveryConnectionKeepsTheFileWhole(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	defer s.Close()
	defer s.Close()
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1"} {
		all := []*connection{s.writes}
		for range s.opened {
			all = append(all, <-s.reads)
		}
		for i, c := range all {
			var got string
			if err := c.row("PRAGMA " + pragma).scan(&got); err != nil || got != want {
				t.Errorf("connection %d: %s is %q, %v; want %s", i, pragma, got, err, want)
			}
			if i > 0 {
				s.reads <- c
			}
		}
	}
}

// REL-20: a clock that was set back, even while the gateway was down, gives
// nothing more time.
func TestClockSetBackGivesNoTime(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	dir, opt := t.TempDir(), Options{Now: func() time.Time { return now }}
	shows := func(s *Store) (at time.Time) {
		t.Helper()
		if err := s.View(t.Context(), func(r gatelatch.Reader) error { at = r.Now(); return nil }); err != nil {
			t.Fatal(err)
		}
		return at
	}
	s := open(t, dir, opt)
	first := shows(s)
	b := pending("m1")
	for i := range b.Events() {
		b.Events()[i].At = first
	}
	if err := save(s, b); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(-50, 0, 0)
	if got := shows(s); !got.Equal(first) {
		t.Errorf("set back, it went from %v to %v", first, got)
	}
	for range 2 {
		now = now.Add(time.Minute)
		if got := shows(s); got.Before(first.Add(time.Minute)) {
			t.Errorf("a minute after %v it is %v", first, got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		now = now.AddDate(-1, 0, 0)
		s = open(t, dir, opt)
		if got := shows(s); !got.Equal(first) {
			t.Errorf("after a restart it is %v, the trail ends at %v", got, first)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreForOneUser(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	defer s.Close()
	for _, name := range []string{"g.db", "g.db.lock"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if perm := info.Mode().Perm(); perm != 0o600 {
			t.Errorf("%s has mode %o", name, perm)
		}
	}
}

// A key that is known without reading is never older than what was committed,
// whatever a view that began before has read.
func TestKnownKeysEndWithTheCommit(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	defer s.Close()
	save := func(k gatelatch.Key) {
		t.Helper()
		if err := s.Update(t.Context(), func(tx gatelatch.Tx) error {
			if old, err := tx.Key(k.ID); err == nil {
				k.Version = old.Version
			}
			return tx.SaveKey(&k)
		}); err != nil {
			t.Fatal(err)
		}
	}
	key := gatelatch.Key{ID: "key_1", Kind: gatelatch.AskKey, Hash: gatelatch.SumOf([]byte("secret"))}
	save(key)
	read := func(between func()) {
		t.Helper()
		if err := s.View(t.Context(), func(r gatelatch.Reader) error {
			if _, err := r.LastSeq(); err != nil { // the state is that of the first read
				return err
			}
			between()
			_, err := r.KeyByHash(key.Hash)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	read(func() {})
	if _, _, ok := s.KnownKey(key.Hash); !ok {
		t.Fatal("a key that was read is not known")
	}
	read(func() { key.Revoked = time.Now(); save(key) })
	if k, _, ok := s.KnownKey(key.Hash); ok && k.Revoked.IsZero() {
		t.Error("a view from before brought the key back")
	}
}

package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
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
	storetest.Run(t, func(t *testing.T, dir string) gatelatch.Store { return open(t, dir, Options{}) })
}

func save(s *Store, b *gatelatch.Batch) error {
	return s.Update(context.Background(), func(tx gatelatch.Tx) error { return tx.SaveBatch(b) })
}

func pending(message string) *gatelatch.Batch {
	by := gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}
	b := &gatelatch.Batch{ID: "bat_" + message, Agent: by.ID, Session: "s", Message: message, Created: time.Now()}
	c := &gatelatch.Call{ID: "cal_" + message, Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"ls"}`)}
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

func TestEveryConnectionIsDurable(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	defer s.Close()
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2"} {
		all := []*connection{s.writes}
		for range readers {
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
			if _, err := s.writes.exec(damage); err != nil {
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

func TestNewerSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	if _, err := s.writes.conn.ExecContext(t.Context(), `PRAGMA user_version=99`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "g.db"), Options{}); err == nil || !strings.Contains(err.Error(), "newer gatelatch") {
		t.Errorf("a newer schema: %v", err)
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

// What lists, the clock, a pause and retention look for is found by an index,
// however much else there is.
func TestQueriesUseTheirIndex(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	defer s.Close()
	if err := save(s, pending("m1")); err != nil {
		t.Fatal(err)
	}
	for query, index := range map[string]string{
		`SELECT id FROM batch WHERE permits AND id>? ORDER BY id LIMIT ?`:                    "batch_permits",
		`SELECT id FROM batch WHERE due<=? ORDER BY due, id LIMIT ?`:                         "batch_due",
		`SELECT MIN(due) FROM batch WHERE due>?`:                                             "batch_due",
		`SELECT id FROM batch WHERE over<? ORDER BY over, id LIMIT ?`:                        "batch_over",
		`SELECT 1 FROM call WHERE agent=? AND session=? AND ref=? AND ref<>''`:               "call_ref",
		`SELECT 1 FROM call WHERE input=?`:                                                   "call_input",
		`SELECT 1 FROM call WHERE result=?`:                                                  "call_result",
		`SELECT 1 FROM batch WHERE agent=? AND pair=? AND claimed IN ('', ?) LIMIT 1`:        "batch_pair",
		places(gatelatch.Query{Pending: true}):                                               "call_waiting",
		places(gatelatch.Query{Pending: true, Newest: true}):                                 "call_waiting",
		places(gatelatch.Query{Pending: true, After: "x"}):                                   "call_waiting",
		places(gatelatch.Query{Pending: true, Newest: true, After: "x"}):                     "call_waiting",
		places(gatelatch.Query{}):                                                            "call_settled",
		places(gatelatch.Query{After: "x"}):                                                  "call_settled",
		`SELECT version, body, sum FROM grants WHERE live ORDER BY at DESC, id DESC LIMIT ?`: "grants_live",
	} {
		var plan string
		args := make([]any, strings.Count(query, "?"))
		err := s.read(t.Context(), func(r *reader) error {
			return r.each("EXPLAIN QUERY PLAN "+query, args, func(rows *sql.Rows) error {
				var id, parent, unused int
				var line string
				err := rows.Scan(&id, &parent, &unused, &line)
				plan += line + "\n"
				return err
			})
		})
		if err != nil || !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %v\n%s", query, err, plan)
		}
	}
}

// REL-23: a database of any age goes forward, and one step that fails leaves
// what was there before it.
func TestMigrationsGoForwardFromEach(t *testing.T) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	some := fstest.MapFS{}
	apply := func(dir string) error {
		db, err := sql.Open("sqlite", dsn(filepath.Join(dir, "g.db")))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return migrate(t.Context(), c, some)
	}
	works := func(dir string) {
		t.Helper()
		s := open(t, dir, Options{})
		if err := errors.Join(save(s, pending("m1")), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for n := range len(files) + 1 {
		dir := t.TempDir()
		if err := apply(dir); err != nil {
			t.Fatal(err)
		}
		works(dir)
		if n < len(files) {
			script, err := migrations.ReadFile(files[n])
			if err != nil {
				t.Fatal(err)
			}
			some[files[n]] = &fstest.MapFile{Data: script}
		}
	}
	dir := t.TempDir()
	some["migrations/9999_bad.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE half (id INTEGER); SELECT nonsense;`)}
	if err := apply(dir); err == nil || !strings.Contains(err.Error(), "9999_bad.sql") {
		t.Errorf("a bad step: %v", err)
	}
	works(dir)
	some["migrations/9999_bad.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE half (id INTEGER);`)}
	if err := apply(dir); err != nil {
		t.Errorf("something was left of the bad step: %v", err)
	}
}

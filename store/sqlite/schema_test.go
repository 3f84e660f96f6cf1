package sqlite

import (
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gatelatch/gatelatch"
)

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
		messagesOfCall: "message_call",
		messagesBefore: "message_at",
		messagesNewest: "message_at",
		messagesDue:    "message_due",
		messageNext:    "message_due",
		`SELECT version, body, sum FROM session ORDER BY since DESC, agent DESC, id DESC LIMIT ?`: "session_since",
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

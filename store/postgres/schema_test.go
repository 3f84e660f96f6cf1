package postgres

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gatelatch/gatelatch"
	"github.com/jackc/pgx/v5"
)

func TestNewerSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	must(t, open(t, dir, Options{}).Close())
	sql(t, dir, `INSERT INTO gatelatch_schema VALUES (99)`)
	refusedToOpen(t, database(t, dir), "newer gatelatch")
}

func TestGatewaysThatStartTogetherMigrateOnce(t *testing.T) {
	dir := t.TempDir()
	dsn := database(t, dir)
	errs := make(chan error)
	for range 8 {
		go func() {
			s, err := Open(context.Background(), dsn, Options{})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// What lists, the clock, a pause and retention look for is found by an index,
// however much else there is.
func TestQueriesUseTheirIndex(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	must(t, save(s, pending("m1")))
	for query, index := range map[string]string{
		`SELECT id FROM batch WHERE permits AND id>'' ORDER BY id LIMIT 10`:                              "batch_permits",
		`SELECT id FROM batch WHERE due<=5 ORDER BY due, id LIMIT 10`:                                    "batch_due",
		`SELECT MIN(due) FROM batch WHERE due>5`:                                                         "batch_due",
		`SELECT id FROM batch WHERE over<5 ORDER BY over, id LIMIT 10`:                                   "batch_over",
		`SELECT 1 FROM call WHERE agent='' AND session='' AND ref='r' AND ref<>''`:                       "call_ref",
		`SELECT 1 FROM call WHERE input='x'`:                                                             "call_input",
		`SELECT 1 FROM message WHERE call='x' ORDER BY at DESC, id DESC LIMIT 10`:                        "message_call",
		`SELECT 1 FROM message WHERE due<=5 ORDER BY due, id LIMIT 10`:                                   "message_due",
		`SELECT 1 FROM batch WHERE agent='' AND pair='x' AND claimed IN ('', 'h') LIMIT 1`:               "batch_pair",
		`SELECT id FROM call WHERE state='pending' ORDER BY created DESC, batch DESC, pos DESC LIMIT 10`: "call_waiting",
	} {
		var plan strings.Builder
		must(t, s.View(t.Context(), func(v gatelatch.Reader) error {
			r := v.(*reader)
			if err := r.c.start(); err != nil {
				return err
			}
			// The tables are tiny, so that reading all of one would do.
			if err := r.c.do("SET LOCAL enable_seqscan=off; SET LOCAL enable_sort=off; SET LOCAL enable_bitmapscan=off"); err != nil {
				return err
			}
			return r.c.each("EXPLAIN "+query, nil, func(rows pgx.Rows) error {
				var line string
				err := rows.Scan(&line)
				plan.WriteString(line)
				return err
			})
		}))
		if !strings.Contains(plan.String(), index) {
			t.Errorf("%s\n%s", query, plan.String())
		}
	}
}

// REL-23: a database of any age goes forward, and one step that fails leaves
// what was there before it.
func TestMigrationsGoForwardFromEach(t *testing.T) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	some := fstest.MapFS{}
	for n := range len(files) + 1 {
		dir := t.TempDir()
		c, err := pgx.Connect(t.Context(), database(t, dir))
		must(t, err)
		must(t, migrate(t.Context(), c, some))
		hangUp(c)
		s := open(t, dir, Options{})
		must(t, save(s, pending("m1")))
		must(t, s.Close())
		if n < len(files) {
			script, err := migrations.ReadFile(files[n])
			must(t, err)
			some[files[n]] = &fstest.MapFile{Data: script}
		}
	}
	dir := t.TempDir()
	must(t, open(t, dir, Options{}).Close())
	some["migrations/9999_bad.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE half (id int); SELECT nonsense`)}
	c, err := pgx.Connect(t.Context(), database(t, dir))
	must(t, err)
	if err := migrate(t.Context(), c, some); err == nil || !strings.Contains(err.Error(), "9999_bad.sql") {
		t.Errorf("a bad step: %v", err)
	}
	hangUp(c)
	must(t, save(open(t, dir, Options{}), pending("m1")))
	sql(t, dir, `CREATE TABLE half (id int)`) // nothing is left of it
}

package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/writer"
	"github.com/gatelatch/gatelatch/store/sqlite"
	"github.com/gatelatch/gatelatch/store/storetest"
	"github.com/jackc/pgx/v5"
)

// sql runs a statement behind the store's back.
func sql(t testing.TB, dir, query string, args ...any) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), database(t, dir))
	must(t, err)
	defer hangUp(c)
	_, err = c.Exec(context.Background(), query, args...)
	must(t, err)
}

func refusedToOpen(t *testing.T, dsn, want string) {
	t.Helper()
	s, err := Open(t.Context(), dsn, Options{})
	if err == nil {
		_ = s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("opened with %v, want %q", err, want)
	}
}

func TestServerThatLosesCommitsIsRefused(t *testing.T) {
	dsn := database(t, t.TempDir())
	for _, level := range []string{"off", "local", "remote_write"} {
		refusedToOpen(t, dsn+" synchronous_commit="+level, "synchronous_commit is "+level)
	}
}

// What holds at the start may be changed by the server's operator later.
func TestServerThatBeginsToLoseCommitsIsRefused(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	must(t, save(s, pending("m1")))
	must(t, s.writes.do("SET synchronous_commit=off"))
	if err := save(s, pending("m2")); err == nil || !strings.Contains(err.Error(), "synchronous_commit is off") {
		t.Errorf("saved with %v", err)
	}
}

func TestConnectionsHaveTimeouts(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	must(t, save(s, pending("m1")))
	held, err := s.pool.Acquire(t.Context())
	must(t, err)
	defer held.Release()
	for _, c := range []*pgx.Conn{s.writes.conn, held.Conn()} {
		var statement, idle string
		must(t, c.QueryRow(t.Context(), `SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')`).Scan(&statement, &idle))
		if statement != "10s" || idle != "1s" {
			t.Errorf("statements end after %s, idle transactions after %s", statement, idle)
		}
	}
}

func TestOldServerIsRefused(t *testing.T) {
	was := oldest
	oldest = 990000
	defer func() { oldest = was }()
	refusedToOpen(t, database(t, t.TempDir()), "needs 14 or newer")
}

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

func TestDamageIsAnError(t *testing.T) {
	for name, damage := range map[string]string{
		"body":  `UPDATE batch SET body = convert_to(replace(convert_from(body, 'UTF8'), 'pending', 'allowed'), 'UTF8')`,
		"input": `UPDATE input SET bytes = '{"command":"rm"}'`,
		"lost":  `DELETE FROM input`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, Options{})
			must(t, save(s, pending("m1")))
			sql(t, dir, damage)
			err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Batch("bat_m1"); return err })
			if err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("reading a damaged row: %v", err)
			}
		})
	}
	dir := t.TempDir()
	s := open(t, dir, Options{})
	must(t, save(s, pending("m1")))
	must(t, s.Close())
	sql(t, dir, `DELETE FROM event WHERE seq=2`)
	refusedToOpen(t, database(t, dir), "damaged at its end")
}

func TestTimeNeverRunsBackwards(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	must(t, save(s, pending("m1")))
	later := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	sql(t, dir, `UPDATE head SET at=$1`, later.UnixMicro()) // as if the server's clock had been set back since
	now := view(t, s, func(r gatelatch.Reader) (time.Time, error) { return r.Now(), nil })
	if now.Before(later) {
		t.Errorf("reads at %v, the trail ends at %v", now, later)
	}
	must(t, save(s, pending("m2")))
	if es := trail(t, s); es[3].At.Before(later) {
		t.Errorf("event at %v, the one before at %v", es[3].At, later)
	}
}

// group commits jobs together, as the writer does when they wait at once.
func group(s *Store, work ...job) (errs []error) {
	var jobs []*writer.Job[job]
	for _, w := range work {
		jobs = append(jobs, &writer.Job[job]{Work: w})
	}
	s.commit(jobs)
	for _, j := range jobs {
		errs = append(errs, j.Err)
	}
	return errs
}

func saving(b *gatelatch.Batch) job { return func(tx gatelatch.Tx) error { return tx.SaveBatch(b) } }

func TestFailedStatementFailsItsOwnJobOnly(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	overlooked := func(w gatelatch.Tx) error {
		if err := w.SaveBatch(pending("bad")); err != nil {
			return err
		}
		_ = w.(*tx).run(`INSERT INTO no_such_table VALUES (1)`)
		return nil // a caller that overlooks the error changes nothing
	}
	for _, errs := range [][]error{group(s, overlooked), group(s, saving(pending("m1")), overlooked, saving(pending("m2")))} {
		for i, err := range errs {
			if bad := len(errs) == 1 || i == 1; bad != (err != nil) {
				t.Errorf("job %d of %d: %v", i, len(errs), err)
			}
		}
	}
	if n := len(trail(t, s)); n != 4 {
		t.Errorf("%d events, want those of m1 and m2", n)
	}
}

func TestAnyBytesAreKept(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	odd := func() *gatelatch.Batch {
		b := pending("m\x00")
		b.Session = "\x00s"
		b.Calls[0].Ref, b.Calls[0].Tool = "r\x00", "T\x00\xff"
		by := gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "\x00", Name: "N\x00\xff"}
		if err := b.Decide("cal_m\x00", gatelatch.Decision{State: gatelatch.Denied, By: by, At: b.Created, Digest: b.Calls[0].Digest, Note: "\x00"}); err != nil {
			t.Fatal(err)
		}
		return b
	}
	if err := errors.Join(group(s, saving(pending("m1")), saving(odd()), saving(pending("m2")))...); err != nil {
		t.Fatal(err)
	}
	b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.BatchOfRef(agent.ID, "\x00s", "r\x00") })
	if b.ID != "bat_m\x00" {
		t.Errorf("found %q", b.ID)
	}
	if es := trail(t, s); len(es) != 7 || es[4].By.Name != "N\x00\xff" {
		t.Errorf("%d events, the fifth by %q", len(es), es[4].By.Name)
	}
	err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Batch("no\x00\xff"); return err })
	if !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("an odd id: %v", err)
	}
}

// Calls in one group may share an input that none of them has written yet.
func TestGroupReadsItsOwnInputs(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	withdraw := func(tx gatelatch.Tx) error {
		b, err := tx.Batch("bat_m1")
		if err != nil {
			return err
		}
		b.Withdraw(agent, "", tx.Now())
		return tx.SaveBatch(b)
	}
	must(t, errors.Join(group(s, saving(pending("m1")), saving(pending("m2")), withdraw)...))
	refuse := func(tx gatelatch.Tx) error { return errors.Join(tx.SaveBatch(pending("m3")), errors.New("no")) }
	if errs := group(s, refuse, withdraw); errs[0] == nil || errs[1] != nil {
		t.Errorf("after a refusal: %v", errs)
	}
	trail(t, s)
}

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
		`SELECT 1 FROM batch WHERE agent='' AND pair='x' AND claimed IN ('', 'h') LIMIT 1`:               "batch_pair",
		`SELECT id FROM call WHERE state='pending' ORDER BY created DESC, batch DESC, pos DESC LIMIT 10`: "call_waiting",
	} {
		var plan strings.Builder
		must(t, s.view(t.Context(), func(r *reader) error {
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

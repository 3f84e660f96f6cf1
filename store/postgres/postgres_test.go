package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
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
	if err := errors.Join(together(t, s, saving(pending("m1")), saving(odd()), saving(pending("m2")))...); err != nil {
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

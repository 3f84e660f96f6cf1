package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/jackc/pgx/v5"
)

// Whoever was told "saved" finds it, whatever happened to connections.
func TestKilledBackendsLoseNothingAcknowledged(t *testing.T) {
	dir, stores := two(t, Options{})
	const total, writers = 400, 8
	var names []string
	for i := range total {
		names = append(names, fmt.Sprint("m", i))
	}
	due := make(chan struct{}, total)
	done := make(chan int)
	go func() { done <- kill(t, dir, due) }()
	var mu sync.Mutex
	var kept []string
	failed := 0
	inParallel(writers, names, func(i int, name string) {
		err := save(stores[i%2], pending(name))
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed++
			return
		}
		if kept = append(kept, name); len(kept)%15 == 0 {
			due <- struct{}{}
		}
	})
	close(due)
	t.Logf("%d saved, %d not, %d backends killed", len(kept), failed, <-done)
	for i, name := range kept {
		view(t, stores[i%2], func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_" + name) })
	}
	if n := len(trail(t, stores[0])); n < 2*len(kept) {
		t.Errorf("%d events of %d batches", n, len(kept))
	}
	must(t, save(stores[0], pending("after")))
	must(t, save(stores[1], pending("after that")))
}

// kill ends every other connection to the database whenever it is due.
func kill(t *testing.T, dir string, due <-chan struct{}) (n int) {
	c, err := pgx.Connect(context.Background(), database(t, dir))
	if err != nil {
		t.Error(err)
		return 0
	}
	defer hangUp(c)
	for range due {
		tag, err := c.Exec(context.Background(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname=current_database() AND pid<>pg_backend_pid()`)
		if err != nil {
			t.Error(err)
		}
		n += int(tag.RowsAffected())
	}
	return n
}

func TestUnknownCommitIsAnErrorForAll(t *testing.T) {
	hangUpBefore := func(c *pgx.Conn) { _ = c.PgConn().Conn().Close() }
	hangUpAfter := func(c *pgx.Conn) {
		_, _ = c.PgConn().Exec(context.Background(), "COMMIT").ReadAll()
		_ = c.PgConn().Conn().Close()
	}
	for name, lose := range map[string]func(*pgx.Conn){"lost before": hangUpBefore, "lost after": hangUpAfter} {
		t.Run(name, func(t *testing.T) {
			var fault func(*pgx.Conn)
			s := open(t, t.TempDir(), Options{fault: func(c *pgx.Conn) {
				if fault != nil {
					fault(c)
				}
			}})
			b := pending("m1")
			fault = lose
			for _, err := range together(t, s, saving(b), saving(pending("m2"))) {
				if !errors.Is(err, ErrUnknown) {
					t.Errorf("got %v, want ErrUnknown", err)
				}
			}
			if len(b.Events()) != 2 || b.Version != 0 {
				t.Error("the batch takes itself for saved")
			}
			fault = nil
			err := save(s, b)
			if there := name == "lost after"; errors.Is(err, gatelatch.ErrStale) != there || !there && err != nil {
				t.Errorf("saving again: %v", err)
			}
			trail(t, s)
		})
	}
}

// Two gateways that wait for each other both get through: PostgreSQL undoes
// one, and that one runs again.
func TestDeadlockIsResolved(t *testing.T) {
	_, stores := two(t, Options{})
	var both sync.WaitGroup // hold their first row
	both.Add(2)
	describe := func(s *Store, ids ...string) error {
		met := false
		return s.Update(context.Background(), func(tx gatelatch.Tx) error {
			for _, id := range ids {
				if _, err := tx.Session(agent.ID, id); !errors.Is(err, gatelatch.ErrNotFound) {
					continue
				}
				if err := tx.SaveSession(&gatelatch.Session{Agent: agent.ID, ID: id}); err != nil {
					return err
				}
				if !met {
					met = true
					both.Done()
					both.Wait()
				}
			}
			return nil
		})
	}
	errs := make(chan error)
	go func() { errs <- describe(stores[0], "a", "b") }()
	go func() { errs <- describe(stores[1], "b", "a") }()
	must(t, errors.Join(<-errs, <-errs))
}

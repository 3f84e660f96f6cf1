package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
	"github.com/gatelatch/gatelatch/store/storetest"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

var server *pgtest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if server, err = pgtest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := errors.Join(server.Stop(), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var schemas sync.Map

// database returns the address of a database that belongs to dir. It is a
// schema in one that all tests share: those come and go faster.
func database(t testing.TB, dir string) string {
	t.Helper()
	dsn := server.Database(t, "test")
	name := fmt.Sprintf("t%.12s", gatelatch.SumOf([]byte(dir)))
	if _, there := schemas.LoadOrStore(name, true); !there {
		c, err := pgx.Connect(context.Background(), dsn)
		must(t, err)
		defer hangUp(c)
		_, err = c.Exec(context.Background(), `CREATE SCHEMA `+name)
		must(t, err)
	}
	return dsn + " search_path=" + name
}

func open(t testing.TB, dir string, opt Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), database(t, dir), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) {
	here := func(t *testing.T, dir string) gatelatch.Store { return open(t, dir, Options{}) }
	storetest.Run(t, here)
	storetest.RunCopies(t, here)
}

var agent = gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}

func pending(message string) *gatelatch.Batch {
	b := &gatelatch.Batch{ID: "bat_" + message, Agent: agent.ID, Session: "s", Message: message, Created: time.Now()}
	c := &gatelatch.Call{ID: "cal_" + message, Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"ls"}`)}
	b.Propose(c, agent, time.Now())
	_ = b.Judge(c, gatelatch.Verdict{Effect: gatelatch.Ask}, time.Now())
	return b
}

func save(s *Store, b *gatelatch.Batch) error {
	return s.Update(context.Background(), func(tx gatelatch.Tx) error { return tx.SaveBatch(b) })
}

func decide(s *Store, callID, who string, state gatelatch.State) error {
	return s.Update(context.Background(), func(tx gatelatch.Tx) error {
		b, err := tx.BatchOfCall(callID)
		if err != nil {
			return err
		}
		d := gatelatch.Decision{State: state, By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: who, Name: who}, At: tx.Now(), Digest: b.Call(callID).Digest}
		if err := b.Decide(callID, d); err != nil {
			return err
		}
		return tx.SaveBatch(b)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func view[T any](t testing.TB, s *Store, fn func(r gatelatch.Reader) (T, error)) (out T) {
	t.Helper()
	must(t, s.View(context.Background(), func(r gatelatch.Reader) (err error) { out, err = fn(r); return err }))
	return out
}

// trail returns all events, after checking that they are chained and that time
// does not run backwards in them.
func trail(t testing.TB, s *Store) (all []gatelatch.Event) {
	t.Helper()
	var chain audit.Chain
	var at time.Time
	for {
		es := view(t, s, func(r gatelatch.Reader) ([]gatelatch.Event, error) { return r.Events(gatelatch.Seq(len(all)), 500) })
		if len(es) == 0 {
			return all
		}
		for _, e := range es {
			must(t, chain.Next(e))
			if e.At.Before(at) {
				t.Fatalf("event %d is from %v, the one before from %v", e.Seq, e.At, at)
			}
			at = e.At
		}
		all = append(all, es...)
	}
}

//go:build linux

package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/store/postgres"
	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
)

// Two gateways share a PostgreSQL that is killed while it commits, again and
// again. Neither gateway ends; whoever was told something finds it, and who was
// told nothing asks again.
func TestSoakPostgresKilledInMidCommit(t *testing.T) {
	t.Parallel()
	rng := chance(t)
	server, err := pgtest.Start()
	must(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	dsn := server.Database(t, "crash")
	gateways := []*gateway{newGateway(t), newGateway(t)}
	for _, g := range gateways {
		g.store = asURL(t, dsn)
		g.start()
	}
	first := newDesk("first")
	must(t, first.sit(gateways[0].state))
	_, err = first.work(t.Context(), session(), 0)
	must(t, err)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	desks := make([][]*desk, 4) // by worker
	var workers sync.WaitGroup
	for w := range desks {
		workers.Go(func() { desks[w] = workOn(ctx, t, gateways[w%2], w) })
	}
	kills, crashes := killInMidCommit(t, server, rng, time.Now().Add(length(t, 10*time.Second)))
	stop()
	workers.Wait()

	for _, g := range gateways {
		g.stop()
	}
	s, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	must(t, err)
	defer s.Close()
	rec, err := readStore(t.Context(), s)
	must(t, err)
	must(t, rec.check())
	want, sessions := rec.story("first"), 0
	for _, ds := range desks {
		for _, d := range ds {
			must(t, rec.keeps(d))
			sameStory(t, rec.story(d.session), want)
			sessions++
		}
	}
	t.Logf("%d backends killed in mid-commit, %d crashes of the server, %d sessions, %d events", kills, crashes, sessions, len(rec.events))
}

func asURL(t *testing.T, dsn string) string {
	t.Helper()
	var host, port, user, name string
	_, err := fmt.Sscanf(dsn, "host=%s port=%s user=%s dbname=%s", &host, &port, &user, &name)
	must(t, err)
	u := url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + name, RawQuery: url.Values{"host": {host}, "port": {port}}.Encode()}
	return u.String()
}

// workOn works through one session after the other, each step until it is
// acknowledged, and ends with a whole one.
func workOn(ctx context.Context, t *testing.T, g *gateway, worker int) (desks []*desk) {
	steps := session()
	for n := 0; ctx.Err() == nil; n++ {
		d := newDesk(fmt.Sprint("worker ", worker, " session ", n))
		desks = append(desks, d)
		if err := d.sit(g.state); err != nil {
			t.Error(err)
			return desks
		}
		for _, s := range steps {
			if err := insist(t.Context(), s, d); err != nil {
				t.Errorf("%s: %v", d.session, err)
				return desks
			}
		}
	}
	return desks
}

// insist asks as often as a client should, and no longer than patience.
func insist(ctx context.Context, s step, d *desk) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		err := s.run(ctx, d)
		if err == nil || !client.Again(err) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond): // sooner than a client would
		case <-ctx.Done():
			return err
		}
	}
}

// killInMidCommit lets a few commits pass, then kills who commits or crashes
// the whole server, again and again. A killed backend takes all others with it.
func killInMidCommit(t *testing.T, server *pgtest.Server, rng *rand.Rand, until time.Time) (kills, crashes int) {
	t.Helper()
	tooLong := time.After(time.Until(until) + patience)
	seen := map[int]bool{} // backends that were committing when last looked at
	look := time.NewTicker(200 * time.Microsecond)
	defer look.Stop()
	for pass := rng.IntN(30); time.Now().Before(until) || kills < 2 || crashes < 2; {
		select {
		case <-tooLong:
			t.Fatalf("only %d backends were seen committing, and %d crashes", kills, crashes)
		case <-look.C:
		}
		for pid, does := range server.Backends() {
			was := seen[pid]
			if seen[pid] = does == "COMMIT"; was || !seen[pid] {
				continue
			}
			if pass--; pass >= 0 {
				continue
			}
			if (kills+crashes)%3 == 1 {
				must(t, server.Crash())
				crashes++
			} else if syscall.Kill(pid, syscall.SIGKILL) == nil {
				kills++
			}
			seen, pass = map[int]bool{}, rng.IntN(30)
			break
		}
	}
	return kills, crashes
}

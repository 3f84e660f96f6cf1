package postgres

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/twin"
	"github.com/jackc/pgx/v5"
)

// How gateways hear of each other: each looks at the end of the trail every
// poll, which is what counts. A NOTIFY only makes it look sooner. It is sent
// after the commit and on another connection, because PostgreSQL lets
// transactions that notify commit only one after the other. Losing one costs
// a second, until the poll.

const channel = "gatelatch"

func newName() string { return rand.Text() }

// Changes implements gatelatch.Store.
func (s *Store) Changes(ctx context.Context, fn func(gatelatch.Change)) { s.ears.Changes(ctx, fn) }

// tellOwn tells of a commit of this store with the last n events. If others
// came between, what is known stays as it is: the next look finds them, and
// tells of these once more.
func (s *Store) tellOwn(c gatelatch.Change, n int) {
	s.mu.Lock()
	if s.known == c.Seq-gatelatch.Seq(n) {
		s.known = c.Seq
	}
	s.mu.Unlock()
	s.ears.Tell(c)
	poke(s.commits)
}

// tellFound tells of what a look found.
func (s *Store) tellFound(c gatelatch.Change) {
	s.mu.Lock()
	news := c.Seq > s.known
	s.known = max(s.known, c.Seq)
	s.mu.Unlock()
	if news {
		s.ears.Tell(c)
	}
}

func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// follow starts what tells of the changes of other gateways.
func (s *Store) follow() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.others.Go(func() { s.watch(ctx) })
	if !s.opt.quiet {
		s.others.Go(func() { s.keepUp(ctx, s.listen) })
		s.others.Go(func() { s.keepUp(ctx, s.notify) })
	}
}

func (s *Store) watch(ctx context.Context) {
	tick := time.NewTicker(s.opt.poll)
	if twin.Is == "no_polling" {
		tick.Stop()
	}
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.sooner:
		case <-tick.C:
		}
		// An error is as good as no news: the next poll tries again, and who
		// wants to read hears of it at once.
		_ = s.look(ctx)
	}
}

// look tells of the events since the last that are known.
func (s *Store) look(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	var c gatelatch.Change
	var seq int64
	if err := s.pool.QueryRow(ctx, `SELECT seq FROM head`).Scan(&seq); err != nil {
		return err
	}
	if c.Seq = gatelatch.Seq(seq); c.Seq <= known {
		return nil
	}
	rows, err := s.pool.Query(ctx, `SELECT DISTINCT batch FROM event WHERE seq>$1 AND seq<=$2 AND batch<>''`, int64(known), seq)
	if err != nil {
		return err
	}
	var id text
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error { c.Batches = append(c.Batches, string(id)); return nil })
	if err == nil {
		s.tellFound(c)
	}
	return err
}

// keepUp gives work a connection of its own, and another when it was lost.
func (s *Store) keepUp(ctx context.Context, work func(context.Context, *pgx.Conn) error) {
	for ctx.Err() == nil {
		cfg := s.pool.Config().ConnConfig
		cfg.RuntimeParams["synchronous_commit"] = "off" // a NOTIFY is not worth a flush
		if c, err := pgx.ConnectConfig(ctx, cfg); err == nil {
			_ = work(ctx, c)
			hangUp(c)
		}
		select {
		case <-ctx.Done():
		case <-time.After(s.opt.poll):
		}
	}
}

func (s *Store) listen(ctx context.Context, c *pgx.Conn) error {
	if _, err := c.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	poke(s.sooner) // for what came before
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Payload != s.name {
			poke(s.sooner)
		}
	}
}

// notify sends one NOTIFY for all commits since the last.
func (s *Store) notify(ctx context.Context, c *pgx.Conn) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.commits:
		}
		if _, err := c.Exec(ctx, `SELECT pg_notify($1, $2)`, channel, s.name); err != nil {
			return err
		}
	}
}

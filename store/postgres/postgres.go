// Package postgres keeps everything in a PostgreSQL database, which several
// gateways may use at once. Each has one writer goroutine with group commit,
// and readers beside it. The database is for Gatelatch alone.
//
// Loads are optimistic: a save compares versions, and a change that lost
// against another runs again from fresh loads; update.go has its walk. What belongs to all
// gateways, the trail and the control row, is settled under one lock that each
// takes last.
//
// Time is the database's, read once a transaction, and never before the last
// event of the trail or what this gateway's own clock went on to. An event that
// waited for the lock behind a later one takes that one's time, so that the
// trail's times never run backwards.
//
// Connections are sessions: a pooler that hands them out by the transaction
// loses their timeouts, and LISTEN.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/clock"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/gatelatch/gatelatch/internal/writer"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options change what a store does; the zero value is right for a gateway.
type Options struct {
	// Readers is the most connections for reading; 0 is 8. Three more write,
	// listen and notify.
	Readers int
	// poll is how often to look for changes of other gateways; 0 is a second.
	poll time.Duration
	// quiet, for tests, neither sends nor hears a NOTIFY.
	quiet bool
	// fault, for tests, is called when everything but the COMMIT was sent.
	fault func(*pgx.Conn)
}

// Store is a gatelatch.Store.
type Store struct {
	opt    Options
	pool   *pgxpool.Pool
	writes *connection // the writer's; nil when it was lost
	writer *writer.Writer[*job]
	warned bool // PostgreSQL warned on the writer's connection
	closed chan struct{}

	closing sync.Once
	stop    context.CancelFunc // ends what follows the other gateways
	others  sync.WaitGroup
	name    string        // of this store among those that notify
	sooner  chan struct{} // somebody notified
	commits chan struct{} // there is something to notify of

	clock *clock.Clock
	ears  storage.Ears

	mu    sync.Mutex
	known gatelatch.Seq // up to here, everybody was told
}

var _ gatelatch.Store = (*Store)(nil)

// groupSize is the most changes that one transaction commits.
const groupSize = 128

// Open opens the database that dsn names, a URL or "host=… dbname=…", and
// brings its schema forward.
func Open(ctx context.Context, dsn string, opt Options) (_ *Store, err error) {
	if opt.Readers <= 0 {
		opt.Readers = 8
	}
	if opt.poll <= 0 {
		opt.poll = time.Second
	}
	cfg, err := configure(dsn, opt)
	if err != nil {
		return nil, err
	}
	s := newStore(opt)
	defer func() {
		if err != nil {
			s.closeAll()
			err = fmt.Errorf("postgres: %w", err)
		}
	}()
	if err := prepare(ctx, cfg.ConnConfig); err != nil {
		return nil, err
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, err
	}
	if err := s.loadHead(ctx); err != nil {
		return nil, err
	}
	s.follow()
	s.writer = writer.New(groupSize, s.commit)
	return s, nil
}

func newStore(opt Options) *Store {
	return &Store{
		opt: opt, closed: make(chan struct{}), clock: clock.New(time.Now), name: newName(),
		sooner: make(chan struct{}, 1), commits: make(chan struct{}, 1), stop: func() {},
	}
}

// prepare checks the server and migrates, on a connection of its own that may
// take its time.
func prepare(ctx context.Context, cfg *pgx.ConnConfig) error {
	cfg = cfg.Copy()
	cfg.RuntimeParams["statement_timeout"] = "0"
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer hangUp(c)
	if err := checkServer(ctx, c); err != nil {
		return err
	}
	return migrate(ctx, c, migrations)
}

// Close finishes what is being committed and closes the connections. Closing
// again does nothing.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.writer.Close()
		s.closeAll()
	})
	return nil
}

func (s *Store) closeAll() {
	close(s.closed)
	s.stop()
	s.others.Wait()
	if s.writes != nil {
		hangUp(s.writes.conn)
	}
	if s.pool != nil {
		s.pool.Close() // waits for who still reads
	}
}

// View implements gatelatch.Store.
func (s *Store) View(ctx context.Context, fn func(gatelatch.Reader) error) error {
	select {
	case <-s.closed:
		return gatelatch.ErrClosed
	default:
	}
	c, free := s.reading(ctx, snapshot)
	defer free()
	err := fn(&reader{c: c, clock: s.clock})
	if c.lost() || !c.begun && c.err != nil {
		return explain(cmp.Or(err, c.err))
	}
	return err
}

// reading returns a connection of the pool that is taken with its first query,
// and what gives it back.
func (s *Store) reading(ctx context.Context, how string) (c *connection, free func()) {
	var held *pgxpool.Conn
	left := s.opt.Readers + 1
	free = func() {
		if held == nil {
			return
		}
		if c.inside() {
			_ = c.do("ROLLBACK")
		}
		c.deadline(time.Time{})
		held.Release()
		held, c.conn = nil, nil
	}
	c = &connection{how: how}
	c.dial = func() (err error) {
		free() // one that was lost leaves the pool with that
		if left--; left < 0 {
			return errors.New("postgres: all connections were lost")
		}
		if held, err = s.pool.Acquire(ctx); err != nil {
			held = nil
			select {
			case <-s.closed:
				return gatelatch.ErrClosed
			default:
				return fmt.Errorf("postgres: %w", err)
			}
		}
		c.conn = held.Conn()
		c.deadline(time.Now().Add(patience))
		return nil
	}
	return c, free
}

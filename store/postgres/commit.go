package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/gatelatch/gatelatch/internal/writer"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

type job func(gatelatch.Tx) error

// ErrUnknown means that the connection was lost during a commit: what was to
// be written may be there or not.
var ErrUnknown = errors.New("postgres: nobody knows whether this was committed: read before going on")

// tries is how often a change runs again that lost against another gateway, or
// with its connection.
const tries = 8

// Update implements gatelatch.Store.
func (s *Store) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	err := s.writer.Do(ctx, fn)
	if errors.Is(err, writer.ErrClosed) {
		return gatelatch.ErrClosed
	}
	return err
}

// raceError is the error of a job that may succeed when it runs again.
type raceError struct{ error }

func (e raceError) Unwrap() error { return e.error }

// commit runs all jobs in one transaction, and those that lost against another
// gateway again, each in its own: alone a job may wait for a row, because it
// holds none that somebody else in its group took.
func (s *Store) commit(jobs []*writer.Job[job]) {
	s.group(jobs, false)
	for i, j := range jobs {
		var lost raceError
		for range tries {
			if !errors.As(j.Err, &lost) {
				break
			}
			s.group(jobs[i:i+1], true)
		}
		if errors.As(j.Err, &lost) {
			j.Err = lost.error
		}
	}
}

// group runs jobs until a transaction with all of them is through, or failed
// in a way that running again can't help. Then it failed for all: what a job
// was refused for may be what another wrote.
func (s *Store) group(jobs []*writer.Job[job], alone bool) {
	var err error
	for range tries {
		if err = s.once(jobs, alone); err == nil || !s.transient(err) {
			break
		}
	}
	if err != nil {
		for _, j := range jobs {
			j.Err = explain(fmt.Errorf("write: %w", err))
		}
	}
}

// transient reports whether err left nothing behind and may not come again.
func (s *Store) transient(err error) bool {
	switch {
	case errors.Is(err, ErrUnknown), errors.Is(err, os.ErrDeadlineExceeded), failed(err, idleTooLong):
		return false
	case errors.Is(err, errMoved), collided(err):
		return true
	}
	return s.writes != nil && s.writes.conn.IsClosed()
}

// Codes of PostgreSQL.
const (
	taken        = "23505" // something else has what must be unique
	idleTooLong  = "25P03"
	unserialized = "40001"
	deadlock     = "40P01"
)

// explain marks an error that is the database's, not the request's: it does not
// answer, or says that it can't work now.
func explain(err error) error {
	var e *pgconn.PgError
	said := errors.As(err, &e)
	switch {
	case err == nil, errors.Is(err, gatelatch.ErrClosed), errors.Is(err, errMoved), collided(err):
		return err
	case !said, slices.Contains([]string{"08", "25", "53", "57", "58"}, e.Code[:2]):
		return fmt.Errorf("%w: %w", gatelatch.ErrUnavailable, err)
	}
	return err
}

func failed(err error, code string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == code
}

// collided reports whether PostgreSQL undid a statement so that another
// transaction may go on.
func collided(err error) bool { return failed(err, deadlock) || failed(err, unserialized) }

// once tries a transaction. Its error is for all jobs; a job that is refused is
// undone by itself.
func (s *Store) once(jobs []*writer.Job[job], alone bool) error {
	if err := s.connect(); err != nil {
		return err
	}
	c := s.writes
	c.err, c.ahead = nil, nil
	c.deadline(time.Now().Add(patience))
	now, err := c.begin("BEGIN ISOLATION LEVEL READ COMMITTED")
	if err != nil {
		return s.rollback(err)
	}
	all := &tx{reader: reader{c: c, now: s.clock.By(now)}, alone: alone}
	if len(jobs) > 1 {
		c.ahead = []string{"SAVEPOINT one"}
	}
	for _, j := range jobs {
		if j.Err, err = s.one(all, j.Work, len(jobs) > 1); err != nil {
			return s.rollback(err)
		}
	}
	c.ahead = nil // the commit releases the last
	if !all.changed {
		return s.rollback(nil)
	}
	last, err := all.seal()
	if err != nil {
		return s.rollback(err)
	}
	if err := s.end(); err != nil {
		return s.rollback(err)
	}
	s.committed(all, last)
	return nil
}

func (s *Store) committed(all *tx, last gatelatch.Seq) {
	storage.Tell(all.saved)
	s.tellOwn(gatelatch.Change{Seq: last, Batches: all.touched}, len(all.events))
}

// one runs a job on its own copy of all, and takes it over if the job agrees.
// A job that is alone needs no savepoint: undoing it is undoing the
// transaction. The second error is the end of the transaction.
func (s *Store) one(all *tx, work job, grouped bool) (refused, broken error) {
	t := *all
	t.changed, t.stale = false, false
	err := storage.Guard(work, &t)
	c := t.c
	switch {
	case c.conn.IsClosed() || errors.Is(c.err, errMoved):
		return nil, c.err
	case c.err != nil:
		err = c.err // also of a job that overlooked it
	}
	if failed(err, taken) {
		err = fmt.Errorf("%w: %w", gatelatch.ErrStale, err)
		t.stale = true
	}
	if err != nil && (t.stale && errors.Is(err, gatelatch.ErrStale) || collided(err)) {
		err = raceError{err}
	}
	if err == nil {
		t.changed = t.changed || all.changed
		*all = t
	}
	c.err = nil
	switch {
	case !grouped || len(c.ahead) > 0: // the savepoint is not even there yet
		return err, nil
	case err != nil:
		return err, c.do("ROLLBACK TO one")
	}
	c.ahead = []string{"RELEASE one", "SAVEPOINT one"}
	return nil, nil
}

// end commits. Only an answer says what happened: PostgreSQL may have
// committed and lost the connection before it could say so.
func (s *Store) end() error {
	if s.opt.fault != nil {
		s.opt.fault(s.writes.conn)
	}
	s.warned = false
	res, err := s.writes.conn.PgConn().Exec(forever, "COMMIT").ReadAll()
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.SeverityUnlocalized == "ERROR":
		return fmt.Errorf("commit: %w", err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	case s.warned: // it gave up waiting for a standby, and committed
		return fmt.Errorf("%w: the standby did not answer", ErrUnknown)
	case len(res) != 1 || res[0].CommandTag.String() != "COMMIT":
		return errors.New("commit: the transaction was rolled back")
	}
	return nil
}

// rollback undoes what is open and returns err. A connection that can't do so
// is of no more use.
func (s *Store) rollback(err error) error {
	if s.writes.do("ROLLBACK") != nil {
		hangUp(s.writes.conn)
	}
	return err
}

// connect sees to it that the writer has a connection.
func (s *Store) connect() error {
	if s.writes != nil && !s.writes.conn.IsClosed() {
		return nil
	}
	s.writes = nil
	cfg := s.pool.Config().ConnConfig
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.warned = s.warned || n.SeverityUnlocalized == "WARNING" }
	c, err := pgx.ConnectConfig(forever, cfg)
	if err == nil {
		s.writes = &connection{conn: c}
	}
	return err
}

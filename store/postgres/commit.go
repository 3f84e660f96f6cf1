package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/internal/writer"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
	// A change that is alone lost before, perhaps over the control row, which all
	// gateways want. With that in hand it can't lose over it again.
	holdControl = " FOR NO KEY UPDATE OF control"
)

// commit is the writer's: all sets in one transaction, then who is alone.
func (s *Store) commit(jobs []*writer.Job[*job]) {
	var sets []*writer.Job[*job]
	for _, j := range jobs {
		if j.Work.set != nil {
			sets = append(sets, j)
		}
	}
	s.commitSets(sets)
	for _, j := range jobs {
		if j.Work.set == nil {
			j.Err = s.runAlone(j.Work.alone)
		}
	}
}

// commitSets sends sets until a transaction is through, each time without those
// that lost, or it failed in a way that sending again can't help. If something
// was wrong with rows it sends them apart, to see with whose.
func (s *Store) commitSets(jobs []*writer.Job[*job]) {
	apart := false
	for left := tries; len(jobs) > 0; {
		lost, err := s.once(jobs, apart)
		switch {
		case errors.Is(err, errSomebody):
			apart = true
			continue
		case err != nil && s.transient(err) && left > 1:
			left--
			continue
		case err != nil:
			err = explain(fmt.Errorf("write: %w", err))
		}
		var rest []*writer.Job[*job]
		for _, j := range jobs {
			if j.Err = err; err == nil && len(lost) > 0 {
				if j.Err = lost[j.Work.set]; j.Err == nil {
					rest = append(rest, j)
				}
			}
		}
		jobs, apart = rest, false
	}
}

func (s *Store) once(jobs []*writer.Job[*job], apart bool) (lost map[*set]error, err error) {
	if err := s.connect(); err != nil {
		return nil, err
	}
	g := &group{s: s, c: s.writes, apart: apart}
	for _, j := range jobs {
		g.sets = append(g.sets, j.Work.set)
	}
	err = g.run()
	return g.lost, err
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
	if s.writes.inside() && s.writes.do("ROLLBACK") != nil {
		hangUp(s.writes.conn)
	}
	return err
}

// connect sees to it that the writer has a connection, with nothing begun.
func (s *Store) connect() error {
	if s.writes == nil || s.writes.lost() {
		if err := s.redial(); err != nil {
			return err
		}
	}
	s.writes.err, s.writes.begun = nil, false
	s.writes.deadline(time.Now().Add(patience))
	return nil
}

func (s *Store) redial() error {
	s.writes = nil
	cfg := s.pool.Config().ConnConfig
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.warned = s.warned || n.SeverityUnlocalized == "WARNING" }
	c, err := pgx.ConnectConfig(forever, cfg)
	if err == nil {
		s.writes = &connection{conn: c, how: begin, hold: holdControl}
	}
	return err
}

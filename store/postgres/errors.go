package postgres

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrUnknown means that the connection was lost during a commit: what was to
// be written may be there or not.
var ErrUnknown = errors.New("postgres: nobody knows whether this was committed: read before going on")

// raceError is the error of a change that may succeed when it runs again.
type raceError struct{ error }

func (e raceError) Unwrap() error { return e.error }

func raced(err error) bool {
	var lost raceError
	return errors.As(err, &lost)
}

// Codes of PostgreSQL.
const (
	taken        = "23505" // something else has what must be unique
	unserialized = "40001"
	deadlock     = "40P01"
)

// transient reports whether err left nothing behind and may not come again.
func (s *Store) transient(err error) bool {
	switch {
	case err == nil, errors.Is(err, ErrUnknown), errors.Is(err, os.ErrDeadlineExceeded):
		return false
	case collided(err):
		return true
	}
	return s.writes != nil && s.writes.lost()
}

// explain is explain of an error that came with this connection: one that it
// carried is no fault of the database.
func (c *connection) explain(err error) error {
	var e *pgconn.PgError
	if c.lost() || !c.begun || errors.As(err, &e) {
		return explain(err)
	}
	return err
}

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

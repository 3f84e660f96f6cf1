package postgres

import (
	"errors"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// connection is one connection to the database, used by one goroutine. It
// begins with its first query, in one round trip. err is the first statement
// that failed: PostgreSQL refuses all that follow until they are rolled back.
type connection struct {
	conn  *pgx.Conn    // nil until something is asked
	dial  func() error // sets conn, anew after one that had been lost before
	how   string       // BEGIN, or "" if each query is a transaction of its own
	hold  string       // what locks the control row as it begins, or ""
	begun bool
	err   error

	at      time.Time // when it began: the database's time, or the last event's if that is later
	control stored    // as it was then
}

// stored is an aggregate as a row holds it.
type stored struct {
	version   int64
	body, sum []byte
}

func (c *connection) note(err error) error {
	if err != nil && c.err == nil {
		c.err = err
	}
	return err
}

func (c *connection) lost() bool { return c.conn != nil && c.conn.IsClosed() }

// inside reports whether a transaction is open, perhaps one that failed.
func (c *connection) inside() bool {
	return c.conn != nil && !c.lost() && c.conn.PgConn().TxStatus() != 'I'
}

func (c *connection) deadline(t time.Time) {
	if c.conn != nil && !c.lost() {
		_ = c.note(c.conn.PgConn().Conn().SetDeadline(t))
	}
}

// start begins, if nothing was asked yet.
func (c *connection) start() error {
	if c.begun {
		return nil
	}
	res, err := c.begin("", nil)
	if err == nil {
		err = c.note(res.Close())
	}
	return err
}

// begin begins, and sends a query behind that. A connection that had been lost
// before is replaced: nothing was asked on it.
func (c *connection) begin(query string, args []any) (res pgx.BatchResults, err error) {
	for {
		if c.dial != nil {
			if err := c.dial(); err != nil {
				return nil, c.note(err)
			}
		}
		if res, err = c.tryBegin(query, args); err == nil {
			return res, nil
		}
		if c.dial == nil || !c.lost() || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, c.note(err)
		}
	}
}

func (c *connection) tryBegin(query string, args []any) (res pgx.BatchResults, err error) {
	b := new(pgx.Batch)
	if c.how != "" {
		b.Queue(c.how)
	}
	b.Queue(`SELECT clock_timestamp(), head.at, control.version, control.body, control.sum FROM head, control` + c.hold)
	if query != "" {
		b.Queue(query, args...)
	}
	res = c.conn.SendBatch(forever, b)
	if c.how != "" {
		_, err = res.Exec()
	}
	var last int64
	if err == nil {
		err = res.QueryRow().Scan(&c.at, &last, &c.control.version, &c.control.body, &c.control.sum)
	}
	if err != nil {
		_ = res.Close()
		return nil, err
	}
	if t := time.UnixMicro(last); t.After(c.at) {
		c.at = t
	}
	c.begun = true
	return res, nil
}

// send runs a batch in one round trip.
func (c *connection) send(b *pgx.Batch) error { return c.note(c.conn.SendBatch(forever, b).Close()) }

type scanner interface{ scan(into ...any) error }

// one is the row that a query has come to.
type one struct{ pgx.Rows }

func (r one) scan(into ...any) error { return r.Scan(into...) }

// row is the row of a query.
type row struct {
	c   *connection
	res pgx.BatchResults // nil if the query went by itself
	row pgx.Row
	err error
}

func (r row) scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.row.Scan(into...)
	none := errors.Is(err, pgx.ErrNoRows)
	if !none {
		_ = r.c.note(err)
	}
	if r.res != nil {
		if e := r.c.note(r.res.Close()); e != nil && none {
			return e
		}
	}
	return err
}

func (c *connection) row(query string, args ...any) row {
	if c.begun {
		return row{c: c, row: c.conn.QueryRow(forever, query, args...)}
	}
	res, err := c.begin(query, args)
	if err != nil {
		return row{err: err}
	}
	return row{c: c, res: res, row: res.QueryRow()}
}

func (c *connection) each(query string, args []any, fn func(pgx.Rows) error) (err error) {
	var rows pgx.Rows
	if c.begun {
		rows, err = c.conn.Query(forever, query, args...)
	} else {
		var res pgx.BatchResults
		if res, err = c.begin(query, args); err != nil {
			return err
		}
		defer func() {
			if e := c.note(res.Close()); err == nil {
				err = e
			}
		}()
		rows, err = res.Query()
	}
	if err != nil {
		return c.note(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return c.note(err)
		}
	}
	return c.note(rows.Err())
}

// do runs statements without arguments or rows, in one round trip.
func (c *connection) do(statements string) error {
	_, err := c.conn.PgConn().Exec(forever, statements).ReadAll()
	return c.note(err)
}

// text is a string kept as bytea.
type text string

// ScanBytes implements pgtype.BytesScanner.
func (t *text) ScanBytes(b []byte) error { *t = text(b); return nil }

// raw is s for a bytea column. It is never NULL.
func raw[S ~string](s S) []byte { return []byte(s) }

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// forever is the context of every statement. A cancelled one would cut a
// transaction in the middle, and watching for it costs a goroutine each time.
var forever = context.Background()

// connection is one connection to the database. It prepares each text once.
type connection struct {
	conn  *sql.Conn
	known map[string]*sql.Stmt
	// writes are prepared with the driver: database/sql looks at each argument
	// for longer than the driver takes to bind it.
	writes map[string]write
	args   []driver.NamedValue // of the write at hand
	enter  func() error        // before each read, if set
}

type write interface {
	driver.Stmt
	driver.StmtExecContext
}

var errDriver = errors.New("another driver than the one this was written for")

func connect(ctx context.Context, db *sql.DB) (*connection, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{conn: c, known: map[string]*sql.Stmt{}, writes: map[string]write{}}, nil
}

func (c *connection) get(query string) (*sql.Stmt, error) {
	if st := c.known[query]; st != nil {
		return st, nil
	}
	// SQLite plans by the number that is bound to a bare LIMIT, and so plans
	// anew for each execution. It does not look into a sum.
	st, err := c.conn.PrepareContext(forever, strings.ReplaceAll(query, "LIMIT ?", "LIMIT ?+0"))
	if err == nil {
		c.known[query] = st
	}
	return st, err
}

func (c *connection) rows(query string, args ...any) (*sql.Rows, error) {
	if c.enter != nil {
		if err := c.enter(); err != nil {
			return nil, err
		}
	}
	st, err := c.get(query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(forever, args...)
}

// row is the row of a query, or its error.
type row struct {
	row interface{ Scan(...any) error }
	err error
}

func (r row) scan(into ...any) error {
	if r.err != nil {
		return r.err
	}
	return r.row.Scan(into...)
}

func (c *connection) row(query string, args ...any) row {
	if c.enter != nil {
		if err := c.enter(); err != nil {
			return row{err: err}
		}
	}
	st, err := c.get(query)
	if err != nil {
		return row{err: err}
	}
	return row{row: st.QueryRowContext(forever, args...)}
}

// promised runs a statement whose effect somebody counts on.
func (c *connection) promised(st statement) error {
	n, err := c.exec(st)
	if err == nil {
		err = st.check(n)
	}
	return err
}

// exec runs a statement and returns how many rows it changed.
func (c *connection) exec(st statement) (n int64, err error) {
	err = c.conn.Raw(func(raw any) error {
		w, err := c.write(raw, st.text)
		if err != nil {
			return err
		}
		c.args = c.args[:0]
		for i, a := range st.args {
			c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
		}
		res, err := w.ExecContext(forever, c.args)
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	return n, err
}

func (c *connection) write(raw any, query string) (write, error) {
	if st := c.writes[query]; st != nil {
		return st, nil
	}
	conn, ok := raw.(driver.ConnPrepareContext)
	if !ok {
		return nil, errDriver
	}
	prepared, err := conn.PrepareContext(forever, query)
	if err != nil {
		return nil, err
	}
	st, ok := prepared.(write)
	if !ok {
		return nil, errDriver
	}
	c.writes[query] = st
	return st, nil
}

// plain turns arguments into what the driver and a record know.
func (st statement) plain() (err error) {
	for i, a := range st.args {
		switch a := a.(type) {
		case string, []byte, int64, bool: // as they are
		case *int64:
			if st.args[i] = nil; a != nil {
				st.args[i] = *a
			}
		default:
			if st.args[i], err = driver.DefaultParameterConverter.ConvertValue(a); err != nil {
				return fmt.Errorf("argument %d: %w", i+1, err)
			}
		}
	}
	return nil
}

func (c *connection) do(query string) error { _, err := c.exec(statement{text: query}); return err }

func (c *connection) close() error {
	for _, st := range c.known {
		_ = st.Close()
	}
	_ = c.conn.Raw(func(any) error {
		for _, st := range c.writes {
			_ = st.Close()
		}
		return nil
	})
	return c.conn.Close()
}

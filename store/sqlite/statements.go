package sqlite

import (
	"context"
	"database/sql"
	"strings"
)

// forever is the context of every statement. A cancelled one would cut a
// transaction in the middle, and watching for it costs a goroutine each time.
var forever = context.Background()

// connection is one connection to the database. It prepares each text once.
type connection struct {
	conn  *sql.Conn
	known map[string]*sql.Stmt
}

func connect(ctx context.Context, db *sql.DB) (*connection, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{conn: c, known: map[string]*sql.Stmt{}}, nil
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
	st, err := c.get(query)
	if err != nil {
		return row{err: err}
	}
	return row{row: st.QueryRowContext(forever, args...)}
}

// exec runs a statement and returns how many rows it changed.
func (c *connection) exec(query string, args ...any) (int64, error) {
	st, err := c.get(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(forever, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (c *connection) do(query string) error { _, err := c.exec(query); return err }

func (c *connection) close() error {
	for _, st := range c.known {
		_ = st.Close()
	}
	return c.conn.Close()
}

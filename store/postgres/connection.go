package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// forever is the context of every statement. A cancelled one would cut a
// transaction in the middle; a lost network is noticed by deadline.
var forever = context.Background()

// patience is how long a transaction may take before its connection counts as
// lost. It is longer than a statement's timeout, which is the server's.
const patience = 15 * time.Second

func configure(dsn string, opt Options) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = int32(opt.Readers)
	cfg.MinConns = min(cfg.MinConns, cfg.MaxConns)
	c := cfg.ConnConfig
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "gatelatch"
	}
	c.RuntimeParams["statement_timeout"] = "10s"
	c.RuntimeParams["idle_in_transaction_session_timeout"] = "1s"
	// A standby answers reads with what was true a while ago.
	c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	return cfg, nil
}

// checkServer reads back what a commit's durability hangs on.
func checkServer(ctx context.Context, c *pgx.Conn) error {
	var version int
	var name, fsync, commit string
	err := c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
		current_setting('fsync'), current_setting('synchronous_commit')`).Scan(&version, &name, &fsync, &commit)
	switch {
	case err != nil:
		return err
	case version < oldest:
		return fmt.Errorf("the server is PostgreSQL %s, gatelatch needs 14 or newer", name)
	case fsync != "on":
		return fmt.Errorf("fsync is %s, want on: this server can't keep commits", fsync)
	}
	return durable(commit)
}

// oldest is the first version that works. A test raises it.
var oldest = 140000

func durable(synchronousCommit string) error {
	switch synchronousCommit {
	case "on", "remote_apply":
		return nil
	}
	return fmt.Errorf("synchronous_commit is %s, want on or remote_apply: a crash could lose a decision", synchronousCommit)
}

// hangUp closes a connection, politely if that takes no time.
func hangUp(c *pgx.Conn) {
	ctx, stop := context.WithTimeout(forever, time.Second)
	defer stop()
	_ = c.Close(ctx)
}

// connection is one connection to the database, used by one goroutine. err is
// the first statement that failed: PostgreSQL refuses all that follow until
// they are rolled back.
type connection struct {
	conn  *pgx.Conn
	err   error
	ahead []string // statements to send with the next query, in its round trip
}

func (c *connection) note(err error) error {
	if err != nil && c.err == nil {
		c.err = err
	}
	return err
}

func (c *connection) deadline(t time.Time) {
	if !c.conn.IsClosed() {
		_ = c.note(c.conn.PgConn().Conn().SetDeadline(t))
	}
}

// begin starts a transaction and returns its time: the clock's, or the last
// event's if that is later.
func (c *connection) begin(how string) (now time.Time, err error) {
	var last int64
	var commit string
	b := new(pgx.Batch)
	b.Queue(how)
	b.Queue(`SELECT clock_timestamp(), at, current_setting('synchronous_commit') FROM head`).
		QueryRow(func(r pgx.Row) error { return r.Scan(&now, &last, &commit) })
	if err := c.send(b); err != nil {
		return now, err
	}
	if t := time.UnixMicro(last); t.After(now) {
		now = t
	}
	return now, c.note(durable(commit))
}

// send runs a batch in one round trip.
func (c *connection) send(b *pgx.Batch) error { return c.note(c.conn.SendBatch(forever, b).Close()) }

// query sends what has to go ahead, and a query behind it.
func (c *connection) query(query string, args []any) pgx.BatchResults {
	b := new(pgx.Batch)
	for _, st := range c.ahead {
		b.Queue(st)
	}
	b.Queue(query, args...)
	res := c.conn.SendBatch(forever, b)
	for range c.ahead {
		_, err := res.Exec()
		_ = c.note(err)
	}
	c.ahead = nil
	return res
}

type scanner interface{ scan(into ...any) error }

// one is the row that a query has come to.
type one struct{ pgx.Rows }

func (r one) scan(into ...any) error { return r.Scan(into...) }

// row is the row of a query.
type row struct {
	c   *connection
	res pgx.BatchResults // nil if the query went by itself
	row pgx.Row
}

func (r row) scan(into ...any) error {
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
	if len(c.ahead) == 0 {
		return row{c, nil, c.conn.QueryRow(forever, query, args...)}
	}
	res := c.query(query, args)
	return row{c, res, res.QueryRow()}
}

func (c *connection) each(query string, args []any, fn func(pgx.Rows) error) (err error) {
	res := c.query(query, args)
	defer func() {
		if e := c.note(res.Close()); err == nil {
			err = e
		}
	}()
	rows, err := res.Query()
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

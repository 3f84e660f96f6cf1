package postgres

import (
	"context"
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

// planning is what statements of a gateway do without. They look for few rows,
// by an index, and are planned once, perhaps while the tables are empty.
var planning = []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"}

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
	for _, way := range planning {
		c.RuntimeParams[way] = "off"
	}
	c.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
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

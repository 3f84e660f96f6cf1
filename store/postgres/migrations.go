package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock of whoever migrates: "gatelatc" in ASCII.
const migrationLock = 0x676174656c617463

// migrate brings the schema forward, one transaction a file. Gateways that
// start together take turns; the lock goes with the connection.
func migrate(ctx context.Context, c *pgx.Conn, all fs.FS) error {
	files, err := fs.Glob(all, "migrations/*.sql")
	if err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return err
	}
	there, have, err := schema(ctx, c)
	if err == nil && !there {
		_, err = c.Exec(ctx, `CREATE TABLE gatelatch_schema (version int PRIMARY KEY)`)
	}
	if err != nil {
		return err
	}
	if have > len(files) {
		return fmt.Errorf("the database has schema %d, this gatelatch knows %d: use a newer gatelatch", have, len(files))
	}
	for i, name := range files[have:] {
		script, err := fs.ReadFile(all, name)
		if err != nil {
			return err
		}
		if err := apply(ctx, c, string(script), have+i+1); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimPrefix(name, "migrations/"), err)
		}
	}
	return nil
}

// schema returns how many files were applied, and whether that is noted at all.
// It creates nothing, so that a gateway may run without the right to.
func schema(ctx context.Context, c *pgx.Conn) (there bool, have int, err error) {
	if err := c.QueryRow(ctx, `SELECT to_regclass('gatelatch_schema') IS NOT NULL`).Scan(&there); err != nil || !there {
		return false, 0, err
	}
	err = c.QueryRow(ctx, `SELECT COALESCE(MAX(version), 0) FROM gatelatch_schema`).Scan(&have)
	return true, have, err
}

func apply(ctx context.Context, c *pgx.Conn, script string, version int) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Conn().PgConn().Exec(ctx, script).ReadAll(); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO gatelatch_schema (version) VALUES ($1)`, version)
		return err
	})
}

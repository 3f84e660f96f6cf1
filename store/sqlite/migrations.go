package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// redoSchema is the first with a redo log.
const redoSchema = 4

// migrate brings the schema forward, one transaction a file. The number of
// files applied is kept in user_version, which a transaction covers.
func migrate(ctx context.Context, c *sql.Conn, all fs.FS) error {
	files, err := fs.Glob(all, "migrations/*.sql")
	if err != nil {
		return err
	}
	have, err := schema(ctx, c)
	if err != nil {
		return err
	}
	if have > len(files) {
		return fmt.Errorf("the database has schema %d, this gatelatch knows %d: use a newer gatelatch", have, len(files))
	}
	for i, name := range files[have:] {
		text, err := fs.ReadFile(all, name)
		if err != nil {
			return err
		}
		script := fmt.Sprintf("BEGIN IMMEDIATE;\n%s\nPRAGMA user_version=%d;\nCOMMIT;", text, have+i+1)
		if _, err := c.ExecContext(ctx, script); err != nil {
			_, _ = c.ExecContext(ctx, "ROLLBACK")
			return fmt.Errorf("%s: %w", strings.TrimPrefix(name, "migrations/"), err)
		}
	}
	return nil
}

func schema(ctx context.Context, c *sql.Conn) (have int, err error) {
	err = c.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&have)
	return have, err
}

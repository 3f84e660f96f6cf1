package main

import (
	"context"
	"database/sql"
	"path/filepath"

	"github.com/gatelatch/gatelatch/internal/writer"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

// sqliteRate holds the product against the same driver that writes the same
// rows into the same tables in the same groups, and does nothing else: no JSON,
// no hash, no read, no savepoint.
func sqliteRate(r *rig) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ops, err := recordSQLite(filepath.Join(r.dir, "record.db"), r.dir)
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, filepath.Join(r.dir, "product.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	bare, err := openBareSQLite(filepath.Join(r.dir, "bare.db"))
	if err != nil {
		return err
	}
	defer bare.close()
	return r.sideRates(newNode(ctx, store, r.dir), ops, bare.write, 0.7)
}

func recordSQLite(path, project string) ([]op, error) {
	store, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	return recordOps(store, project, "?", func(name string) (table, error) { return readSQLite(db, name) })
}

func readSQLite(db *sql.DB, name string) (t table, err error) {
	rows, err := db.Query("SELECT * FROM " + name + " ORDER BY 1")
	if err != nil {
		return t, err
	}
	defer func() { _ = rows.Close() }()
	if t.cols, err = rows.Columns(); err != nil {
		return t, err
	}
	for rows.Next() {
		row, into := make([]any, len(t.cols)), make([]any, len(t.cols))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return t, err
		}
		t.rows = append(t.rows, row)
	}
	return t, rows.Err()
}

// bareSQLite writes changes in groups, by the product's own grouping.
type bareSQLite struct {
	db     *sql.DB
	conn   *sql.Conn
	known  map[string]*sql.Stmt
	writer *writer.Writer[change]
}

// As store/sqlite has them.
const (
	sqliteGroup = 128
	sqliteDSN   = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=fullfsync(1)&_pragma=wal_autocheckpoint(4000)"
)

func openBareSQLite(path string) (*bareSQLite, error) {
	ctx := context.Background()
	schema, err := sqlite.Open(ctx, path, sqlite.Options{}) // the same tables and indexes
	if err != nil {
		return nil, err
	}
	if err := schema.Close(); err != nil {
		return nil, err
	}
	b := &bareSQLite{known: map[string]*sql.Stmt{}}
	if b.db, err = sql.Open("sqlite", "file:"+path+sqliteDSN); err != nil {
		return nil, err
	}
	if b.conn, err = b.db.Conn(ctx); err != nil {
		return nil, err
	}
	b.writer = writer.New(sqliteGroup, b.commit)
	return b, nil
}

func (b *bareSQLite) write(c change) error { return b.writer.Do(context.Background(), c) }

func (b *bareSQLite) commit(jobs []*writer.Job[change]) {
	err := b.exec("BEGIN IMMEDIATE")
	for _, j := range jobs {
		for _, st := range j.Work {
			if err == nil {
				err = b.exec(st.text, st.args...)
			}
		}
	}
	if err == nil {
		err = b.exec("COMMIT")
	}
	for _, j := range jobs {
		j.Err = err
	}
}

func (b *bareSQLite) exec(text string, args ...any) (err error) {
	st := b.known[text]
	if st == nil {
		if st, err = b.conn.PrepareContext(context.Background(), text); err != nil {
			return err
		}
		b.known[text] = st
	}
	_, err = st.ExecContext(context.Background(), args...)
	return err
}

func (b *bareSQLite) close() {
	b.writer.Close()
	_ = b.conn.Close()
	_ = b.db.Close()
}

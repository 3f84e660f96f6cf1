package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/store/sqlite"
)

// bareCommits is the disk alone: append a record, wait until it is there.
func bareCommits(dir string, n int) (sample, error) {
	f, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	record := make([]byte, 1024)
	return measure(n, func(int) error {
		if _, err := f.Write(record); err != nil {
			return err
		}
		return f.Sync()
	})
}

// sqliteCommits is one row of a kilobyte in one transaction.
func sqliteCommits(dir string, n int) (sample, error) {
	commit, closeDB, err := bareCommit(dir)
	if err != nil {
		return nil, err
	}
	defer closeDB()
	return measure(n, commit)
}

func bareCommit(dir string) (commit func(int) error, closeDB func(), err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, nil, err
	}
	closeDB = func() { _ = db.Close() }
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)`); err != nil {
		closeDB()
		return nil, nil, err
	}
	st, err := db.Prepare(`INSERT INTO t (body) VALUES (?)`)
	if err != nil {
		closeDB()
		return nil, nil, err
	}
	record := make([]byte, 1024)
	return func(int) error { _, err := st.Exec(record); return err }, closeDB, nil
}

// decisions is a request's whole way without a network: proposed and durable,
// decided and durable, its waiter awake with the batch opened.
func decisions(r *rig) error {
	commit, err := sqliteCommits(r.dir, r.n)
	if err != nil {
		return err
	}
	commit.print("one bare SQLite commit (WAL, synchronous=FULL)")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := sqlite.Open(ctx, filepath.Join(r.dir, "gate.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	d := newNode(ctx, store, r.dir)
	s, err := measure(r.n, func(i int) error {
		c, batch, err := d.propose(ctx, i)
		if err != nil {
			return err
		}
		awake := make(chan error, 1)
		go func() { awake <- d.await(ctx, batch) }()
		if err := d.decide(ctx, c); err != nil {
			return err
		}
		return <-awake
	})
	if err != nil {
		return err
	}
	s.print("propose, durable, decide, durable, waiter awake and holding")
	note("that by one SQLite commit; it makes three", ms(s.p50())/ms(commit.p50()), "×")
	return nil
}

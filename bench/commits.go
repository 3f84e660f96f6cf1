package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
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
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)`); err != nil {
		return nil, err
	}
	st, err := db.Prepare(`INSERT INTO t (body) VALUES (?)`)
	if err != nil {
		return nil, err
	}
	record := make([]byte, 1024)
	return measure(n, func(int) error { _, err := st.Exec(record); return err })
}

// decisions is a request's whole way without a network: proposed and durable,
// decided and durable, its waiter awake with the batch opened.
func decisions(dir string, n int, commit sample) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "gate.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	gate := gatelatch.New(store, policy.Default())
	go gate.Run(ctx)
	agent := gate.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_agent"})
	person := gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_person"})
	s, err := measure(n, func(i int) error {
		b, err := agent.Propose(ctx, gatelatch.Proposal{
			Session: gatelatch.SessionInfo{ID: "s", Project: dir}, Message: fmt.Sprint("m", i),
			Calls: []gatelatch.ProposedCall{{Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"git push origin main"}`), Dir: dir}},
		})
		if err != nil {
			return err
		}
		awake := make(chan error, 1)
		go func() { _, err := agent.Await(ctx, b.ID, gatelatch.Hold{Holder: "holder", Consume: true}); awake <- err }()
		c := b.Calls[0]
		if _, err := person.Decide(ctx, c.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest}); err != nil {
			return err
		}
		return <-awake
	})
	if err != nil {
		return err
	}
	s.print("propose, durable, decide, durable, waiter awake and holding")
	fmt.Printf("%58s %.1f × one SQLite commit; it makes three\n", "=", ms(s.p50())/ms(commit.p50()))
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gatelatch/gatelatch/store/postgres"
	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresRate holds the product, chained and audited, against clients that
// each write the same rows on a connection of their own: one transaction a
// change, in one round trip, and no chain.
func postgresRate(r *rig) (err error) {
	pg, err := startPostgres()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.Stop()) }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ops, err := pg.record(ctx, r.dir)
	if err != nil {
		return err
	}
	store, err := pg.open(ctx, "product")
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	bare, err := pg.bare(ctx)
	if err != nil {
		return err
	}
	defer bare.Close()
	return r.sideRates(newNode(ctx, store, r.dir), ops, func(c change) error { return writeBare(ctx, bare, c) }, 0.8)
}

func writeBare(ctx context.Context, pool *pgxpool.Pool, c change) error {
	b := new(pgx.Batch) // one transaction, as it begins none itself
	for _, st := range c {
		b.Queue(st.text, st.args...)
	}
	return pool.SendBatch(ctx, b).Close()
}

// pgServer is a throw-away PostgreSQL on a real disk.
type pgServer struct{ *pgtest.Server }

func startPostgres() (pgServer, error) {
	if err := onDisk("/tmp"); err != nil { // where pgtest puts them
		return pgServer{}, fmt.Errorf("PostgreSQL's files: %w", err)
	}
	s, err := pgtest.Start()
	return pgServer{s}, err
}

// database returns the address of a database, empty the first time.
func (s pgServer) database(name string) (string, error) {
	t := new(failure)
	dsn := s.Database(t, name)
	return dsn, t.err
}

// failure is as much of a test as pgtest needs.
type failure struct {
	testing.TB
	err error
}

// Helper implements testing.TB.
func (*failure) Helper() {}

// Context implements testing.TB.
func (*failure) Context() context.Context { return context.Background() }

// Fatalf implements testing.TB, but returns.
func (f *failure) Fatalf(format string, args ...any) { f.err = fmt.Errorf(format, args...) }

func (s pgServer) open(ctx context.Context, name string) (*postgres.Store, error) {
	dsn, err := s.database(name)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, dsn, postgres.Options{})
}

func (s pgServer) record(ctx context.Context, project string) ([]op, error) {
	store, err := s.open(ctx, "record")
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	dsn, err := s.database("record")
	if err != nil {
		return nil, err
	}
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close(ctx) }()
	return recordOps(store, project, "$", func(name string) (table, error) { return readPostgres(ctx, c, name) })
}

func readPostgres(ctx context.Context, c *pgx.Conn, name string) (t table, err error) {
	rows, err := c.Query(ctx, "SELECT * FROM "+name+" ORDER BY 1")
	if err != nil {
		return t, err
	}
	for _, f := range rows.FieldDescriptions() {
		t.cols = append(t.cols, f.Name)
	}
	t.rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	return t, err
}

// bare opens a connection for each client, on tables with the same indexes.
func (s pgServer) bare(ctx context.Context) (*pgxpool.Pool, error) {
	schema, err := s.open(ctx, "bare")
	if err != nil {
		return nil, err
	}
	if err := schema.Close(); err != nil {
		return nil, err
	}
	dsn, err := s.database("bare")
	if err != nil {
		return nil, err
	}
	return pgxpool.New(ctx, fmt.Sprintf("%s pool_max_conns=%d pool_min_conns=%d", dsn, clients, clients))
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/backup"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/jackc/pgx/v5"
)

// snapshot begins to read one state.
const snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// Backup writes one state of the store, while gateways go on.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	select {
	case <-s.closed:
		return gatelatch.ErrClosed
	default:
	}
	return slowly(ctx, s.pool.Config().ConnConfig, func(c *connection) error {
		c.how = snapshot
		return backup.Write(ctx, w, &reader{c: c})
	})
}

// BackupDatabase is Backup of a database that gateways perhaps use: it changes
// nothing.
func BackupDatabase(ctx context.Context, dsn string, w io.Writer) error {
	cfg, err := configure(dsn, Options{Readers: 1})
	if err != nil {
		return err
	}
	return slowly(ctx, cfg.ConnConfig, func(c *connection) error {
		files, err := fs.Glob(migrations, "migrations/*.sql")
		if err != nil {
			return err
		}
		switch _, have, err := schema(ctx, c.conn); {
		case err != nil:
			return err
		case have != len(files):
			return fmt.Errorf("postgres: the database has schema %d, this gatelatch needs %d: copy it with the gatelatch that serves it", have, len(files))
		}
		c.how = snapshot
		return backup.Write(ctx, w, &reader{c: c})
	})
}

// slowly runs fn on a connection that may take its time. A transaction that is
// still open at its end is rolled back.
func slowly(ctx context.Context, cfg *pgx.ConnConfig, fn func(*connection) error) error {
	cfg.RuntimeParams["statement_timeout"] = "0"
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	for _, way := range planning {
		delete(cfg.RuntimeParams, way)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	defer hangUp(conn)
	return fn(&connection{conn: conn})
}

// Rows implements backup.Source.
func (r *reader) Rows(table string, fn func(raw, sum []byte) error) error {
	return r.c.each(backup.Query(table), nil, func(rows pgx.Rows) error {
		var raw, sum []byte
		if err := rows.Scan(&raw, &sum); err != nil {
			return err
		}
		return fn(raw, sum)
	})
}

// Restore reads a copy into the store, which must be empty. It commits all of
// it or nothing.
func (s *Store) Restore(ctx context.Context, r io.Reader) error {
	select {
	case <-s.closed:
		return gatelatch.ErrClosed
	default:
	}
	return slowly(ctx, s.pool.Config().ConnConfig, func(c *connection) error {
		c.how = begin
		t := &target{tx: newTx(c, s, true)}
		if err := t.lock(); err != nil {
			return err
		}
		if err := backup.Restore(ctx, r, t); err != nil {
			return err
		}
		if err := t.unlock(); err != nil {
			return err
		}
		poke(s.sooner)
		poke(s.commits)
		return nil
	})
}

// target implements backup.Target. It holds the end of the trail from the
// beginning, so that nobody writes meanwhile, and writes in groups.
type target struct {
	*tx
	head storage.Head
	size int // of what waits to be written
}

func (t *target) lock() error {
	err := t.c.start()
	if err != nil {
		return err
	}
	if t.head, err = scanHead(t.c.conn.QueryRow(forever, `SELECT seq, at, link FROM head FOR UPDATE`)); err != nil {
		return err
	}
	var there bool
	err = t.c.row(`SELECT EXISTS (SELECT FROM event) OR EXISTS (SELECT FROM key) OR EXISTS (SELECT FROM batch)
		OR EXISTS (SELECT FROM session) OR EXISTS (SELECT FROM grants) OR EXISTS (SELECT FROM input) OR EXISTS (SELECT FROM revision)`).scan(&there)
	if err == nil && there {
		err = backup.ErrNotEmpty
	}
	return err
}

func (t *target) unlock() error {
	if err := t.flush(); err != nil {
		return err
	}
	_, err := t.c.conn.Exec(forever, `UPDATE head SET seq=$1, at=$2, link=$3`, t.head.Seq, t.head.At.UnixMicro(), t.head.Link[:])
	if err != nil {
		return err
	}
	if err := t.c.do("COMMIT"); err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return nil
}

// wait counts what waits to be written, and writes it when it is enough.
func (t *target) wait(size int) error {
	if t.size += 256 + size; t.size < 1<<20 {
		return nil
	}
	return t.flush()
}

func (t *target) flush() error {
	if err := t.tx.flush(); err != nil {
		return err
	}
	b := new(pgx.Batch)
	t.queue(b)
	queueEvents(b, t.events)
	t.blobs, t.events, t.size = blobs{}, nil, 0
	if b.Len() == 0 {
		return nil
	}
	return t.c.send(b)
}

// PutEvent implements backup.Target.
func (t *target) PutEvent(e gatelatch.Event) error {
	if e.Body == nil {
		e.Body = []byte{}
	}
	t.head = storage.Head{Seq: e.Seq, At: e.At, Link: e.Link}
	t.events = append(t.events, e)
	return t.wait(len(e.Body))
}

// Record implements backup.Target.
func (t *target) Record(e gatelatch.Event) error {
	t.head.Take(&e)
	t.events = append(t.events, e)
	return t.wait(len(e.Body))
}

// PutInput implements backup.Target.
func (t *target) PutInput(sum gatelatch.Sum, raw []byte) error {
	t.inputs = append(t.inputs, blob{sum, append([]byte{}, raw...)})
	return t.wait(len(raw))
}

// PutResult implements backup.Target.
func (t *target) PutResult(sum gatelatch.Sum, raw []byte) error {
	t.results = append(t.results, blob{sum, append([]byte{}, raw...)})
	return t.wait(len(raw))
}

// PutBatch implements backup.Target.
func (t *target) PutBatch(b *gatelatch.Batch) error {
	if err := t.putBatch(b); err != nil {
		return err
	}
	size := len(t.own("batch", b.ID).body)
	for _, e := range b.Events() {
		if err := t.Record(e); err != nil {
			return err
		}
	}
	return t.wait(size)
}

// Whole implements backup.Target.
func (t *target) Whole() error {
	var n int
	err := errors.Join(t.flush(), t.c.row(`SELECT count(*) FROM call c WHERE NOT EXISTS (SELECT FROM input WHERE hash=c.input)`).scan(&n))
	if err == nil && n > 0 {
		err = fmt.Errorf("the backup lacks the inputs of %d calls", n)
	}
	return err
}

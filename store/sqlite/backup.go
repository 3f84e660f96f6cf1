package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/backup"
	"github.com/gatelatch/gatelatch/internal/filelock"
	"github.com/gatelatch/gatelatch/internal/redo"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// Backup writes one state of the store, while it goes on.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	return s.read(ctx, func(r *reader) error { return backup.Write(ctx, w, r) })
}

// mostWait is how long a gateway may take to bring its tables up to date.
const mostWait = 10 * time.Second

// BackupFile is Backup of a file that a gateway perhaps has open. If none has,
// it first finishes what a crash left undone.
func BackupFile(ctx context.Context, path string, w io.Writer) (err error) {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", uri(path)+"?mode=ro&_pragma=busy_timeout(10000)&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c, err := connect(ctx, db)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := current(ctx, c.conn); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	last, err := lastRecord(c, path)
	patience := time.Now().Add(mostWait)
	for ; err == nil; err = rest(ctx) {
		behind := false
		if err := view(c, func() error {
			_, have, err := logOf(c)
			if behind = have < last; err != nil || behind {
				return err
			}
			return backup.Write(ctx, w, &reader{c: c})
		}); err != nil || !behind {
			return err
		}
		s, err := Open(ctx, path, Options{Readers: 1, Fatal: func(error) {}}) // who calls hears why
		switch {
		case err == nil:
			return errors.Join(s.Backup(ctx, w), s.Close())
		case !errors.Is(err, filelock.ErrLocked):
			return err
		case time.Now().After(patience): // whoever has it open should have brought it up to date
			return fmt.Errorf("%s: its gateway does not write what it accepted into the tables; is the disk full?", path)
		}
	}
	return err
}

// lastRecord is what a copy must not lack.
func lastRecord(c *connection, path string) (redo.Seq, error) {
	id, last, err := logOf(c)
	if err == nil {
		err = redo.Read(path, id, last, func(seq redo.Seq, _ []byte) { last = seq })
	}
	if errors.Is(err, redo.ErrGap) { // it was written while we read
		err = nil
	}
	return last, err
}

func rest(ctx context.Context) error {
	select {
	case <-time.After(2 * mostLag):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// current refuses a file that this gatelatch would have to migrate first.
func current(ctx context.Context, c *sql.Conn) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	have, err := schema(ctx, c)
	if err == nil && have != len(files) {
		err = fmt.Errorf("the database has schema %d, this gatelatch needs %d: copy it with the gatelatch that serves it", have, len(files))
	}
	return err
}

// Rows implements backup.Source.
func (r *reader) Rows(table string, fn func(raw, sum []byte) error) error {
	return r.each(backup.Query(table), nil, func(rows *sql.Rows) error {
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
	return s.Update(ctx, func(w gatelatch.Tx) error {
		t, ok := w.(*tx)
		if !ok {
			return errors.New("not a transaction of this store")
		}
		var n int
		err := t.c.row(`SELECT EXISTS (SELECT 1 FROM event) + EXISTS (SELECT 1 FROM key) + EXISTS (SELECT 1 FROM batch)
			+ EXISTS (SELECT 1 FROM session) + EXISTS (SELECT 1 FROM grants) + EXISTS (SELECT 1 FROM input) + EXISTS (SELECT 1 FROM revision)`).scan(&n)
		if err == nil && n > 0 {
			err = backup.ErrNotEmpty
		}
		if err == nil {
			err = backup.Restore(ctx, r, target{t})
		}
		s.clock.By(t.head.At)
		return err
	})
}

// target implements backup.Target.
type target struct{ *tx }

// PutEvent implements backup.Target.
func (t target) PutEvent(e gatelatch.Event) error {
	t.head = storage.Head{Seq: e.Seq, At: e.At, Link: e.Link}
	if e.Body == nil {
		e.Body = []byte{}
	}
	return t.putEvents([]gatelatch.Event{e})
}

// PutInput implements backup.Target.
func (t target) PutInput(sum gatelatch.Sum, raw []byte) error { return t.putInput(sum, raw) }

// PutResult implements backup.Target.
func (t target) PutResult(sum gatelatch.Sum, raw []byte) error { return t.putResult(sum, raw) }

// PutBatch implements backup.Target.
func (t target) PutBatch(b *gatelatch.Batch) error { return t.putBatch(b) }

// Whole implements backup.Target.
func (t target) Whole() error {
	var n int
	err := t.c.row(`SELECT COUNT(*) FROM call WHERE NOT EXISTS (SELECT 1 FROM input WHERE hash=call.input)`).scan(&n)
	if err == nil && n > 0 {
		err = fmt.Errorf("the backup lacks the inputs of %d calls", n)
	}
	return err
}

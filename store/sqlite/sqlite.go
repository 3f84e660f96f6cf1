// Package sqlite keeps everything in one SQLite file: one writer with group
// commit, a redo log that makes its changes durable before the tables have them,
// and readers beside it.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/clock"
	"github.com/gatelatch/gatelatch/internal/filelock"
	"github.com/gatelatch/gatelatch/internal/redo"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/gatelatch/gatelatch/internal/twin"
	"github.com/gatelatch/gatelatch/internal/writer"
	_ "modernc.org/sqlite" // the driver
)

// Options change what a store does; the zero value is right for a gateway.
type Options struct {
	Now     func() time.Time // the store's clock; nil is time.Now
	Readers int              // how many may read at the same time; 0 is 8
	// Fatal is called when the disk may have lost a commit: nothing this
	// process says can be trusted after a failed fsync. nil panics.
	Fatal func(error)
	// fault, for tests, fails a commit before it happens.
	fault func() error
}

// Store is a gatelatch.Store.
type Store struct {
	opt    Options
	path   string
	db     *sql.DB
	lock   *os.File
	writes *connection
	tidies *connection      // moves commits from their log to the tables' pages
	reads  chan *connection // those that nobody uses
	closed chan struct{}
	opened int // readers
	writer *writer.Writer[job]
	head   storage.Head // of the trail; the writer's
	recent *recent      // the writer's
	// control is the writer's, too, as it was committed last; nil if nobody knows.
	control *gatelatch.Control
	keys    keys
	clock   *clock.Clock
	ears    storage.Ears

	redo    *redo.Log
	mu      sync.Mutex // of ahead
	ahead   []*change
	behind  atomic.Bool      // there is something ahead
	lag     *time.Timer      // ends that
	tables  sync.Mutex       // who holds it may use writes
	wanted  atomic.Int32     // how many wait for it, or have it and are waited for
	kinds   map[string]*rows // of who has the tables, too
	began   bool             // the tables' transaction is open; of who has them
	inside  bool             // the group at hand has the tables; the writer's
	hurt    error            // why it could not have them
	record  []byte           // of the group at hand
	wal     *os.File         // where SQLite writes commits to
	syncing sync.Mutex       // held while somebody tidies
	after   sync.WaitGroup   // for them

	closing sync.Once
}

var _ gatelatch.Store = (*Store)(nil)

const groupSize = 128

// Open opens or creates the file at path. A second process that opens it is
// refused.
func Open(ctx context.Context, path string, opt Options) (_ *Store, err error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Fatal == nil {
		opt.Fatal = func(err error) { panic(err) }
	}
	if opt.Readers <= 0 {
		opt.Readers = 8
	}
	s := &Store{opt: opt, path: path, clock: clock.New(opt.Now), reads: make(chan *connection, opt.Readers), closed: make(chan struct{}), recent: newRecent(), kinds: map[string]*rows{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeFiles())
		}
	}()
	if s.lock, err = filelock.Lock(path + ".lock"); err != nil {
		return nil, err
	}
	left := leftBehind(path)
	if err := s.openFiles(ctx, path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if left {
		if err := s.check(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	s.lag = time.AfterFunc(time.Hour, s.follow)
	s.lag.Stop()
	if err := s.prepare(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.writer = writer.New(groupSize, s.commit)
	return s, nil
}

// prepare brings the tables up to date: with the redo log first, which speaks
// of them as they were.
func (s *Store) prepare(ctx context.Context) error {
	have, err := schema(ctx, s.writes.conn)
	if err == nil && have >= redoSchema {
		err = s.recover()
	}
	if err == nil {
		err = migrate(ctx, s.writes.conn, migrations)
	}
	if err == nil && s.redo == nil {
		err = s.recover()
	}
	if err == nil {
		err = s.loadHead()
	}
	return err
}

// leftBehind reports whether whoever had the file open last did not close it.
func leftBehind(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// check looks for torn pages after a crash. A large file would keep everybody
// waiting: in that one they are found when they are read.
func (s *Store) check(path string) error {
	const large = 64 << 20
	if info, err := os.Stat(path); err != nil || info.Size() > large {
		return err
	}
	var found string
	if err := s.writes.row("PRAGMA quick_check(1)").scan(&found); err != nil || found != "ok" {
		return errors.Join(err, fmt.Errorf("the database is damaged (%s): restore a backup", found))
	}
	return nil
}

func (s *Store) openFiles(ctx context.Context, path string) (err error) {
	if err := onThisMachine(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), syncDir(filepath.Dir(path))); err != nil {
		return err
	}
	if s.db, err = sql.Open("sqlite", dsn(path)); err != nil {
		return err
	}
	if s.writes, err = connect(ctx, s.db); err != nil {
		return err
	}
	if s.tidies, err = connect(ctx, s.db); err != nil {
		return err
	}
	for range s.opt.Readers {
		c, err := connect(ctx, s.db)
		if err != nil {
			return err
		}
		s.reads <- c
		s.opened++
		if err := errors.Join(c.do("PRAGMA query_only=1"), c.do("PRAGMA cache_size=-8000")); err != nil {
			return err
		}
	}
	if err := checkPragmas(ctx, s.writes.conn); err != nil {
		return err
	}
	s.wal, err = os.OpenFile(path+"-wal", os.O_RDWR, 0)
	return err
}

func uri(path string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
	return u.String()
}

func dsn(path string) string {
	return uri(path) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(" + synchronous + ")&_pragma=fullfsync(1)&_pragma=temp_store(MEMORY)&_pragma=wal_autocheckpoint(4000)"
}

// synchronous is NORMAL: the file stays whole, and what its last commits lack
// after a crash the redo log has.
const synchronous = "1"

// checkPragmas reads back what a commit's durability hangs on.
func checkPragmas(ctx context.Context, c *sql.Conn) error {
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": synchronous} {
		var got string
		if err := c.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s is %s, want %s: this file system can't keep commits", pragma, got, want)
		}
	}
	return nil
}

// Close finishes what is being committed and closes the file. Closing again
// does nothing.
func (s *Store) Close() (err error) {
	s.closing.Do(func() {
		s.writer.Close()
		s.lag.Stop()
		err = s.settle()
		s.after.Wait()
		err = errors.Join(err, s.closeFiles())
		if err == nil {
			err = redo.Remove(s.path) // all of it is in the file now
		}
	})
	return err
}

func (s *Store) closeFiles() error {
	var errs []error
	close(s.closed)
	for _, c := range []*connection{s.writes, s.tidies} {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	if s.redo != nil {
		errs = append(errs, s.redo.Close())
	}
	if s.wal != nil {
		errs = append(errs, s.wal.Close())
	}
	if s.db != nil {
		for range s.opened {
			errs = append(errs, (<-s.reads).close()) // waits for who still reads
		}
		errs = append(errs, s.db.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// Changes implements gatelatch.Store.
func (s *Store) Changes(ctx context.Context, fn func(gatelatch.Change)) { s.ears.Changes(ctx, fn) }

// View implements gatelatch.Store.
func (s *Store) View(ctx context.Context, fn func(gatelatch.Reader) error) error {
	return s.read(ctx, func(r *reader) error { return fn(r) })
}

func (s *Store) read(ctx context.Context, fn func(*reader) error) error {
	select {
	case <-s.closed:
		return gatelatch.ErrClosed
	default:
	}
	age := s.keys.now() // first: a key that is saved from now on is not in the tables yet
	if s.behind.Load() && twin.Is != "tables_late" {
		if err := s.settle(); err != nil {
			return err
		}
	}
	select {
	case c := <-s.reads:
		defer func() { s.reads <- c }()
		return explain(view(c, func() error { return fn(&reader{c: c, now: s.clock.Now(), keys: &s.keys, age: age}) }))
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closed:
		return gatelatch.ErrClosed
	}
}

// view runs fn over one state.
func view(c *connection, fn func() error) error {
	if err := c.do("BEGIN"); err != nil {
		return err
	}
	defer func() { _ = c.do("ROLLBACK") }()
	return fn()
}

// Codes of SQLite.
const (
	ioerr    = 10
	full     = 13
	readonly = 8
	cantopen = 14
)

func failed(err error, codes ...int) bool {
	var e interface{ Code() int } // *sqlite.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code()&0xff)
}

// lost reports whether a failed commit may have left the disk in doubt.
func lost(err error) bool { return failed(err, ioerr) || errors.Is(err, redo.ErrSync) }

// explain marks an error that is the disk's, not the request's.
func explain(err error) error {
	var file *fs.PathError // the redo log's
	if failed(err, ioerr, full, readonly, cantopen) || errors.As(err, &file) {
		return fmt.Errorf("%w: %w", gatelatch.ErrUnavailable, err)
	}
	return err
}

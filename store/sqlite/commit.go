package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/gatelatch/gatelatch/internal/writer"
)

type job func(gatelatch.Tx) error

// Update implements gatelatch.Store.
func (s *Store) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	err := s.writer.Do(ctx, fn)
	if errors.Is(err, writer.ErrClosed) {
		return gatelatch.ErrClosed
	}
	return err
}

// commit runs all jobs in one transaction. A job that is refused is undone by
// itself; a failed commit fails them all.
func (s *Store) commit(jobs []*writer.Job[job]) {
	if err := s.writes.do("BEGIN IMMEDIATE"); err != nil {
		fail(jobs, err)
		return
	}
	all := &tx{reader: reader{c: s.writes, now: s.clock.Now()}, head: s.head}
	for _, j := range jobs {
		if j.Err = s.one(all, j.Work, len(jobs) > 1); all.broken != nil {
			break
		}
	}
	if all.broken != nil {
		s.rollback()
		fail(jobs, fmt.Errorf("write: %w", all.broken))
		return
	}
	if !all.changed {
		s.rollback()
		return
	}
	if err := s.end(); err != nil {
		s.rollback()
		fail(jobs, fmt.Errorf("commit: %w", err))
		if lost(err) {
			s.opt.Fatal(err)
		}
		return
	}
	s.head = all.head
	storage.Tell(all.saved)
	s.ears.Tell(gatelatch.Change{Seq: all.head.Seq, Batches: all.touched})
}

// fail overrides what a job was refused for: that may rest on another job's
// write that was never committed.
func fail(jobs []*writer.Job[job], err error) {
	for _, j := range jobs {
		j.Err = explain(err)
	}
}

// one runs a job on its own copy of all, and takes it over if the job agrees.
// A job that is alone needs no savepoint: undoing it is undoing the
// transaction. After a failed statement nobody knows whether SQLite is still
// in the transaction, so nothing more may be written: all is broken.
func (s *Store) one(all *tx, work job, grouped bool) error {
	t := *all
	t.changed = false
	if grouped {
		if all.broken = s.writes.do("SAVEPOINT one"); all.broken != nil {
			return all.broken
		}
	}
	err := storage.Guard(work, &t)
	if err == nil {
		err = t.torn // which the job overlooked
	}
	if t.broken != nil {
		all.broken = t.broken
		return t.broken
	}
	if grouped {
		if err != nil {
			all.broken = s.writes.do("ROLLBACK TO one")
		}
		if all.broken == nil {
			all.broken = s.writes.do("RELEASE one")
		}
		if all.broken != nil {
			return all.broken
		}
	}
	if err == nil {
		t.changed = t.changed || all.changed
		*all = t
	}
	return err
}

func (s *Store) end() error {
	if s.opt.fault != nil {
		if err := s.opt.fault(); err != nil {
			return err
		}
	}
	return s.writes.do("COMMIT")
}

// rollback undoes what is open. SQLite may have done so itself after an error.
func (s *Store) rollback() { _ = s.writes.do("ROLLBACK") }

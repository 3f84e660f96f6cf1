package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// commit makes jobs durable, all by one record. Most jobs agree, or refuse
// before they wrote anything. If one refuses after it wrote to the tables, all
// run again, each behind a savepoint so that it can be undone by itself: always
// having one costs a quarter of the time.
func (s *Store) commit(jobs []*writer.Job[job]) {
	if again := s.group(jobs, false); again {
		s.group(jobs, true)
	}
}

// usualEvents is how many a job has, and about as many statements.
const usualEvents = 4

// group tries a record. If it fails, it fails for all jobs.
func (s *Store) group(jobs []*writer.Job[job], careful bool) (again bool) {
	all := &tx{reader: reader{c: s.writes, now: s.clock.Now()}, store: s, head: s.head, recent: s.recent, control: s.control}
	all.events, all.issued = make([]gatelatch.Event, 0, usualEvents*len(jobs)), make([]statement, 0, usualEvents*len(jobs))
	at := all
	s.writes.enter = func() error { return s.enter(at) }
	defer s.leave()
	if careful {
		all.broken = s.enter(all)
	}
	for _, j := range jobs {
		if all.broken != nil || all.left {
			break
		}
		t := *all
		at = &t
		j.Err = s.one(all, at, j.Work, careful)
	}
	if at = all; all.broken == nil && !all.left {
		_ = all.writeEvents() // or it is broken
	}
	if all.broken == nil {
		all.broken = s.hurt
	}
	switch {
	case all.broken != nil:
		s.takeBack()
		fail(jobs, fmt.Errorf("write: %w", all.broken))
		return false
	case all.left:
		s.takeBack()
		return len(jobs) > 1
	case !all.changed:
		return false
	}
	if err := s.endure(all); err != nil {
		s.takeBack()
		fail(jobs, fmt.Errorf("commit: %w", err))
		if lost(err) {
			s.opt.Fatal(err)
		}
		return false
	}
	s.head, s.control = all.head, all.control
	if all.keyed {
		s.keys.empty()
	}
	storage.Tell(all.saved)
	for _, v := range all.saved {
		if !slices.Contains(all.gone, v.Batch.ID) {
			s.recent.keep(v.Batch)
		}
	}
	s.ears.Tell(gatelatch.Change{Seq: all.head.Seq, Batches: all.touched})
	return false
}

// fail overrides what a job was refused for: that may rest on another job's
// write that was never committed.
func fail(jobs []*writer.Job[job], err error) {
	for _, j := range jobs {
		j.Err = explain(err)
	}
}

// takeBack undoes what the group wrote to the tables.
func (s *Store) takeBack() {
	if s.inside {
		s.undo()
	}
}

// one runs a job on t, a copy of all, and takes it over if the job agrees. After
// a failed statement nobody knows whether SQLite is still in the transaction, so
// nothing more may be written: all is broken.
func (s *Store) one(all, t *tx, work job, careful bool) error {
	t.changed = false
	if careful {
		if all.broken = s.writes.do("SAVEPOINT one"); all.broken != nil {
			return all.broken
		}
	}
	err := storage.Guard(work, t)
	if err == nil {
		err = t.torn // which the job overlooked
	}
	switch {
	case t.broken != nil:
		all.broken = t.broken
		return t.broken
	case err == nil:
		t.changed = t.changed || all.changed
		*all = *t
	case !careful:
		all.left = t.changed && s.inside
		return err
	default:
		all.broken = s.writes.do("ROLLBACK TO one")
	}
	if careful && all.broken == nil {
		all.broken = s.writes.do("RELEASE one")
	}
	if all.broken != nil {
		return all.broken
	}
	return err
}

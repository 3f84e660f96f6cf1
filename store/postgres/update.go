package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/gatelatch/gatelatch/internal/writer"
)

// The walk of a change:
//
//	Update   runs it in its caller's goroutine, over reads that hold nothing,
//	draft    and notes what it writes: its set.
//	group    The writer sends the sets of all who wait in one transaction:
//	write    every row, if it still is as it was read, and the lock of the trail's end;
//	seal     under that lock inputs, events with their numbers and links;
//	end      COMMIT.
//
// Whoever lost against another runs again from fresh reads, and then alone: by
// the writer itself, so that no one else of this gateway comes between.

// job is what the writer is given: a set, or a change to run alone.
type job struct {
	set   *set
	alone func(gatelatch.Tx) error
}

const (
	// drafts is how often a change runs before it is alone.
	drafts = 2
	// tries is how often it runs alone, or what was lost with its connection
	// is sent again.
	tries = 8
)

// Update implements gatelatch.Store.
func (s *Store) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	for range drafts {
		w, err := s.draft(ctx, fn)
		if err == nil && w.empty() {
			return nil
		}
		if err == nil {
			err = s.do(ctx, &job{set: w})
		}
		if errors.Is(err, errAlone) {
			break
		}
		if !raced(err) {
			return err
		}
	}
	return s.do(ctx, &job{alone: fn})
}

func (s *Store) do(ctx context.Context, j *job) error {
	err := s.writer.Do(ctx, j)
	if errors.Is(err, writer.ErrClosed) {
		return gatelatch.ErrClosed
	}
	return err
}

// draft runs a change and returns what it would write. Its reads need not be of
// one state: the rows that it saves, the control row and its sessions are
// compared at the end.
func (s *Store) draft(ctx context.Context, fn func(gatelatch.Tx) error) (w *set, err error) {
	for range tries {
		var lost bool
		if w, lost, err = s.draftOnce(ctx, fn); err == nil || !lost || errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	return w, err
}

func (s *Store) draftOnce(ctx context.Context, fn func(gatelatch.Tx) error) (w *set, lost bool, err error) {
	select {
	case <-s.closed:
		return nil, false, gatelatch.ErrClosed
	default:
	}
	c, free := s.reading(ctx, "")
	defer free()
	t := newTx(c, s, false)
	err = t.run(fn)
	return &t.set, c.lost(), err
}

// run runs a change. What failed in it fails it, also if it overlooked that.
func (t *tx) run(fn func(gatelatch.Tx) error) error {
	err := storage.Guard(fn, t)
	switch {
	case errors.Is(t.c.err, errAlone), raced(t.c.err):
		return t.c.err
	case t.c.err != nil:
		return t.c.explain(t.c.err)
	case t.stale && (err == nil || errors.Is(err, gatelatch.ErrStale)):
		return raceError{gatelatch.ErrStale}
	case errors.Is(err, errInput) && !t.alone: // it may have been replaced between two reads
		return errAlone
	}
	return err
}

// runAlone runs a change until it is through, or refused. Alone it may wait for
// a row: it holds none of somebody else's.
func (s *Store) runAlone(fn func(gatelatch.Tx) error) (err error) {
	for range tries {
		if err = s.tryAlone(fn); !raced(err) && !s.transient(err) {
			return err
		}
	}
	var lost raceError
	if errors.As(err, &lost) {
		return lost.error
	}
	return err
}

func (s *Store) tryAlone(fn func(gatelatch.Tx) error) error {
	if err := s.connect(); err != nil {
		return explain(err)
	}
	t := newTx(s.writes, s, true)
	if err := t.run(fn); err != nil || t.empty() {
		return s.rollback(err)
	}
	g := &group{s: s, c: s.writes, sets: []*set{&t.set}, wait: true}
	if err := g.run(); err != nil {
		return explain(fmt.Errorf("write: %w", err))
	}
	return g.lost[&t.set]
}

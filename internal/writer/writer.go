// Package writer commits in groups: many small changes, one transaction.
package writer

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/gatelatch/gatelatch/internal/twin"
)

// ErrClosed is what jobs get after Close.
var ErrClosed = errors.New("writer: closed")

// A Writer commits one group at a time: all jobs that wait. A job that finds
// nobody at work is committed where it is, without waking anybody, and so are
// those that came meanwhile: whoever is woken for them would be waited for.
type Writer[J any] struct {
	commit func([]*Job[J])
	most   int
	turn   chan struct{} // full while a group is being committed
	jobs   chan *Job[J]
	wake   chan struct{} // there are jobs
	quit   chan struct{}
	done   chan struct{}
	once   sync.Once
}

// alongside is how many more groups a job's caller commits before it goes on
// with its own.
const alongside = 2

// A Job is one change. The commit function sets Err.
type Job[J any] struct {
	Work J
	Err  error
	done chan struct{}
}

// New starts a writer. commit is called with one to most jobs at a time and
// must set the Err of each; when it returns, their callers go on.
func New[J any](most int, commit func([]*Job[J])) *Writer[J] {
	w := &Writer[J]{commit: commit, most: most, turn: make(chan struct{}, 1), jobs: make(chan *Job[J], most), wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go w.loop()
	return w
}

// Do waits until the job is committed or refused. If ctx ends while the job
// waits in the queue it may still be committed: the error then says nothing
// about what was written.
func (w *Writer[J]) Do(ctx context.Context, work J) error {
	j := &Job[J]{Work: work, done: make(chan struct{})}
	select {
	case <-w.quit:
		return ErrClosed
	default:
	}
	if w.alone(j) {
		return j.Err
	}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.quit:
		return ErrClosed
	}
	select {
	case w.wake <- struct{}{}:
	default: // somebody was there before
	}
	select {
	case <-j.done:
		return j.Err
	case <-w.done:
	}
	// The loop ended. Who is at work finishes this job, or never sees it.
	w.turn <- struct{}{}
	<-w.turn
	select {
	case <-j.done:
		return j.Err
	default:
		return ErrClosed
	}
}

// alone commits a job if nobody is at work, with those that came meanwhile.
func (w *Writer[J]) alone(j *Job[J]) bool {
	if len(w.jobs) > 0 || twin.Is == "ack_before_commit" {
		return false
	}
	select {
	case w.turn <- struct{}{}:
	default:
		return false
	}
	defer func() { <-w.turn }()
	select {
	case <-w.quit: // Close may be through already
		return false
	default:
	}
	w.run(w.group(j))
	w.drain(alongside)
	return true
}

// drain commits up to so many groups of those that wait.
func (w *Writer[J]) drain(most int) {
	for range most {
		select {
		case <-w.quit:
			return
		default:
		}
		select {
		case j := <-w.jobs:
			w.run(w.group(j))
		default:
			return
		}
	}
}

// Close finishes what is being committed and refuses the rest.
func (w *Writer[J]) Close() {
	w.once.Do(func() {
		close(w.quit)
		<-w.done
		w.turn <- struct{}{} // whoever comes later finds quit closed
		<-w.turn
	})
	<-w.done
}

func (w *Writer[J]) loop() {
	defer close(w.done)
	for {
		select {
		case <-w.quit:
			return
		case <-w.wake:
		}
		select {
		case w.turn <- struct{}{}:
		case <-w.quit:
			return
		}
		w.drain(math.MaxInt)
		<-w.turn
	}
}

func (w *Writer[J]) group(first *Job[J]) []*Job[J] {
	group := []*Job[J]{first}
	for len(group) < w.most {
		select {
		case j := <-w.jobs:
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

func (w *Writer[J]) run(group []*Job[J]) {
	if twin.Is == "ack_before_commit" {
		for _, j := range group {
			close(j.done)
		}
		w.commit(group)
		return
	}
	w.commit(group)
	for _, j := range group {
		close(j.done)
	}
}

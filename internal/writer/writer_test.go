package writer_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch/internal/writer"
)

// Whoever commits, there is one at a time, and every job is committed once.
func TestOneGroupAtATime(t *testing.T) {
	const clients, each = 32, 200
	var busy, groups atomic.Int32
	seen := map[int]int{}
	w := writer.New(16, func(jobs []*writer.Job[int]) {
		if busy.Add(1) != 1 {
			t.Error("two groups at once")
		}
		defer busy.Add(-1)
		groups.Add(1)
		for _, j := range jobs {
			seen[j.Work]++ // -race would see a second one at work
		}
	})
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for i := range each {
				if err := w.Do(t.Context(), c*each+i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	w.Close()
	for job, n := range seen {
		if n != 1 {
			t.Errorf("job %d was committed %d times", job, n)
		}
	}
	if len(seen) != clients*each || groups.Load() == 0 {
		t.Errorf("%d of %d jobs, in %d groups", len(seen), clients*each, groups.Load())
	}
}

// Close waits for the group at work, wherever that is, and refuses the rest.
func TestCloseFinishesWhatIsBeingCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var committed []string
		work, release := make(chan struct{}), make(chan struct{})
		w := writer.New(4, func(jobs []*writer.Job[string]) {
			close(work)
			<-release
			for _, j := range jobs {
				committed = append(committed, j.Work)
			}
		})
		errs := make(map[string]error)
		var mu sync.Mutex
		var all sync.WaitGroup
		do := func(name string) {
			err := w.Do(t.Context(), name)
			mu.Lock()
			defer mu.Unlock()
			errs[name] = err
		}
		all.Go(func() { do("at work") })
		<-work
		all.Go(func() { do("waits") })
		synctest.Wait()
		closed := false
		all.Go(func() { w.Close(); closed = len(committed) == 1 })
		synctest.Wait()
		close(release)
		all.Wait()
		do("late")
		if errs["at work"] != nil || !errors.Is(errs["waits"], writer.ErrClosed) || !errors.Is(errs["late"], writer.ErrClosed) {
			t.Errorf("%v", errs)
		}
		if !closed || len(committed) != 1 {
			t.Errorf("closed while it was at work: %v, committed %v", !closed, committed)
		}
	})
}

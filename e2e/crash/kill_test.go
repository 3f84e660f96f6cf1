//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

const solo = "solo" // the session of a workload that is alone

// tries is how often a write is looked for: random ids make pages split here or
// there, so that one run has a few writes more than another.
const tries = 20

// REL-01, REL-05, SEC-54: whatever the gateway was about to write when it was
// killed, it comes back with all it has said, and the work goes on as if
// nothing had happened. The directory is empty at first, so this covers its
// creation and, at the end, an orderly stop.
func TestKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	steps := canonical()
	calm := undisturbed(t, steps)
	count := countedByStrace(t, steps)
	for range 3 { // strace slows it down, and then the tables follow in more and smaller steps
		count = min(count, counted(t, steps))
	}
	var reached, runs atomic.Int64
	t.Run("at", func(t *testing.T) {
		for n := 1; n <= count; n++ {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				for range tries {
					runs.Add(1)
					if killedAt(t, steps, n, calm) {
						reached.Add(1)
						break
					}
				}
			})
		}
	})
	t.Logf("%d writes counted, killed at %d, in %d runs", count, reached.Load(), runs.Load())
	if int(reached.Load()) < count {
		t.Error("some were never reached")
	}
}

// undisturbed returns the story of a run in which nothing goes wrong.
func undisturbed(t *testing.T, steps []step) (story []string) {
	t.Helper()
	g, d := newGateway(t), newDesk(solo)
	g.start()
	must(t, d.sit(g.state))
	_, err := d.work(t.Context(), steps, 0)
	must(t, err)
	g.stop()
	rec, err := readFile(t.Context(), g.state)
	must(t, err)
	must(t, errors.Join(rec.check(), rec.keeps(d)))
	return rec.story(solo)
}

// counted is how many writes a run has that is watched, and not disturbed.
func counted(t *testing.T, steps []step) int {
	t.Helper()
	g, d := newGateway(t), newDesk(solo)
	if !g.startWith(func(point) syscall.Errno { return 0 }) {
		t.Fatalf("the gateway does not start: %s", g.log)
	}
	must(t, d.sit(g.state))
	_, err := d.work(t.Context(), steps, 0)
	must(t, err)
	g.stop()
	return len(g.watch.seen)
}

// killedAt reports whether the n-th write was reached.
func killedAt(t *testing.T, steps []step, n int, calm []string) bool {
	g, d := newGateway(t), newDesk(solo)
	var where point
	served := g.startWith(func(p point) syscall.Errno {
		if p.n != n {
			return 0
		}
		where = p
		return die
	})
	next := 0
	var err error
	if served {
		must(t, d.sit(g.state))
		if next, err = d.work(t.Context(), steps, 0); err != nil && !errors.Is(err, client.ErrUnreachable) {
			t.Errorf("the dying gateway answered: %v", err)
		}
		g.end(syscall.SIGTERM)
	}
	g.waitExit()
	if !g.killed() {
		if len(g.watch.seen) >= n || !g.cmd.ProcessState.Success() {
			t.Fatalf("the gateway ended with %v\n%s", g.cmd.ProcessState, g.log)
		}
		return false
	}
	g.start()
	d.finish(t, g, steps, next, steps[max(next-1, 0):min(next+1, len(steps))], calm)
	if t.Failed() {
		t.Logf("killed at write %v, during step %d", where, next)
	}
	return true
}

// finish goes on with the work at a gateway that came back, asks for some of it
// again, and holds all that was said against what the store knows, at once and
// in the end.
func (d *desk) finish(t *testing.T, g *gateway, steps []step, from int, repeat []step, calm []string) {
	t.Helper()
	must(t, d.sit(g.state))
	must(t, d.remembered(t.Context()))
	_, err := d.work(t.Context(), steps, from)
	must(t, err)
	must(t, d.again(t.Context(), repeat))
	g.stop()
	rec, err := readFile(t.Context(), g.state)
	must(t, err)
	must(t, errors.Join(rec.check(), rec.keeps(d)))
	sameStory(t, rec.story(solo), calm)
}

func sameStory(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("as event %d of %d, this happened:\n\t%s\nwant:\n\t%s", i+1, len(want), g, w)
			return
		}
	}
}

// remembered holds the ledger against what the gateway shows before anybody
// asks for anything a second time.
func (d *desk) remembered(ctx context.Context) error {
	shown := map[string]api.Call{}
	for _, which := range []string{"pending", "settled"} {
		list, err := d.person.Calls(ctx, which, "", 500)
		if err != nil {
			return err
		}
		for _, c := range list.Calls {
			shown[c.ID] = c
		}
	}
	var errs []error
	for ref, told := range d.calls {
		switch c, there := shown[told.id]; {
		case !there || c.Digest != told.digest.String() && !told.editing:
			errs = append(errs, fmt.Errorf("after the restart call %s is lost", ref))
		case told.state.Settled() && gatelatch.State(c.State) != told.state:
			errs = append(errs, fmt.Errorf("after the restart call %s is %s, it was %s", ref, c.State, told.state))
		case told.reported && c.Outcome == nil:
			errs = append(errs, fmt.Errorf("after the restart the report of call %s is lost", ref))
		}
	}
	for message, told := range d.batches {
		if c := d.calls[told.refs[0]]; told.fence != 0 && !shown[c.id].Batch.Opened {
			errs = append(errs, fmt.Errorf("after the restart batch %s is not open", message))
		}
	}
	return errors.Join(errs...)
}

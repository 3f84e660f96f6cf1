//go:build linux

package crash

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/e2e/output"
)

// A disk fails at its k-th call of some kind from now on.
type disk struct {
	errno   syscall.Errno
	kind    func(point) bool
	lasting bool // all later calls of the kind fail, too

	left   atomic.Int64 // calls until it fails
	at     atomic.Pointer[point]
	synced atomic.Bool // a record of the log was, before that
}

const never = 1 << 40

func (d *disk) fault(p point) syscall.Errno {
	synced := p.syncs() && strings.Contains(p.file, "-redo") && !d.failed()
	if !d.kind(p) {
		d.synced.CompareAndSwap(false, synced)
		return 0
	}
	left := d.left.Add(-1)
	if left == 0 {
		d.at.Store(&p)
	}
	if left == 0 || left < 0 && d.lasting {
		return d.errno
	}
	d.synced.CompareAndSwap(false, synced)
	return 0
}

// beside reports whether the disk failed at something that what was said does
// not hang on: at the tables, or, behind the record of what was said, at what
// the gateway notes for itself.
func (d *disk) beside() bool { return d.at.Load().tables() || d.synced.Load() }

// failed reports whether the disk has failed since failAt.
func (d *disk) failed() bool { return d.left.Load() <= 0 }

func (d *disk) failAt(k int64) {
	d.left.Store(k)
	d.synced.Store(false)
}

// start starts the gateway, each time with a disk that fails one call later,
// until it serves.
func (d *disk) start(t *testing.T, g *gateway, check func()) (failures int) {
	t.Helper()
	for k := int64(1); ; k++ {
		d.failAt(k)
		served := g.startWith(d.fault)
		if !d.failed() {
			if !served {
				t.Fatalf("the gateway does not start: %s", g.log)
			}
			return failures
		}
		if served {
			g.kill()
			t.Errorf("the gateway serves although its disk failed at write %v", d.at.Load())
		}
		g.waitExit()
		check()
		g.log = new(output.Buffer)
		failures++
	}
}

// REL-21: on a full disk nothing is acknowledged and the reason is said; when
// there is room again the same gateway goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	steps := canonical()
	calm := undisturbed(t, steps)
	g, d := newGateway(t), newDesk(solo)
	full := &disk{errno: syscall.ENOSPC, kind: func(p point) bool { return !p.syncs() }, lasting: true}
	starts := full.start(t, g, func() {
		log := g.log.String()
		if !strings.Contains(log, "disk is full") && !strings.Contains(log, "no space") && !strings.Contains(log, "disk I/O error") {
			t.Errorf("a start on a full disk ended with %v and said %q", g.cmd.ProcessState, log)
		}
	})
	must(t, d.sit(g.state))
	refused := 0
	for _, s := range steps {
		for k := int64(1); ; k++ {
			full.failAt(k)
			err := s.run(t.Context(), d)
			lied := err == nil && full.failed() && !full.beside()
			full.failAt(never) // there is room again
			if lied {
				t.Fatalf("%s was acknowledged although write %v failed", s.name, full.at.Load())
			}
			if err == nil {
				must(t, d.remembered(t.Context()))
				break
			}
			var said *api.RemoteError
			if !errors.As(err, &said) || said.Status != 503 || said.Body.Code != "store" {
				t.Fatalf("on a full disk: %v", err)
			}
			must(t, d.remembered(t.Context()))
			refused++
		}
	}
	t.Logf("%d starts and %d requests refused", starts, refused)
	d.finish(t, g, steps, len(steps), steps, calm)
}

// REL-21: a gateway whose disk fails says nothing that may not hold. After a
// failed fsync it ends, because nobody knows what the disk has kept.
func TestSoakFailingDisk(t *testing.T) {
	t.Parallel()
	// SQLite does not look whether a directory could be synced.
	again(t, &disk{errno: syscall.EIO, kind: func(p point) bool { return p.file != "." }}, func(g *gateway, p point, beside bool, err error) bool {
		var said *api.RemoteError
		refused := errors.As(err, &said) && said.Status == 503
		if (refused || err == nil) && !p.syncs() && !p.tables() {
			return false
		}
		told := errors.Is(err, client.ErrUnreachable) || beside && (err == nil || refused)
		if g.waitExit(); !told || g.cmd.ProcessState.ExitCode() != 1 {
			t.Fatalf("when %v failed, the client got %v, and the gateway ended with %v\n%s", p, err, g.cmd.ProcessState, g.log)
		}
		return true
	})
}

// A gateway that is killed at the first write of a request, at its repetition
// at the second, and so on, all on the same directory, gets there, too.
func TestSoakKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	again(t, &disk{errno: die, kind: func(point) bool { return true }}, func(g *gateway, p point, beside bool, err error) bool {
		if g.waitExit(); !errors.Is(err, client.ErrUnreachable) && (err != nil || !beside) || !g.killed() {
			t.Fatalf("killed at write %v, the gateway said %v and ended with %v", p, err, g.cmd.ProcessState)
		}
		return true
	})
}

// again repeats each step until the disk does not fail before its end; only a
// campaign does all steps. ended judges how a failure showed, and reports
// whether the gateway is gone.
func again(t *testing.T, bad *disk, ended func(_ *gateway, _ point, beside bool, _ error) bool) {
	t.Helper()
	steps := canonical()
	if !soaking() {
		steps = single()[:2]
	}
	calm := undisturbed(t, steps)
	g, d := newGateway(t), newDesk(solo)
	starts := bad.start(t, g, func() {})
	must(t, d.sit(g.state))
	failures, ends := 0, 0
	for _, s := range steps {
		for k := int64(1); ; k++ {
			bad.failAt(k)
			err := s.run(t.Context(), d)
			if !bad.failed() {
				must(t, err)
				break
			}
			beside := bad.beside()
			if err == nil && !beside {
				t.Fatalf("%s was acknowledged although write %v failed", s.name, bad.at.Load())
			}
			bad.failAt(never)
			failures++
			if ended(g, *bad.at.Load(), beside, err) {
				ends++
				if !g.startWith(bad.fault) {
					t.Fatalf("the gateway does not come back: %s", g.log)
				}
			}
			must(t, d.remembered(t.Context()))
			if err == nil {
				break
			}
		}
	}
	bad.failAt(never)
	t.Logf("failed at %d writes of starting and %d of working; %d restarts", starts, failures, ends)
	d.finish(t, g, steps, len(steps), steps, calm)
}

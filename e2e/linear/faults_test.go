package linear

import (
	"context"
	"math/rand/v2"
	"syscall"
	"time"
)

// faults are driven by one seed.
type faults struct {
	*lab
	rng  *rand.Rand
	done []struck
}

// struck is a fault while it lasted.
type struck struct {
	kind     string
	node     int // -1 is the database
	from, to time.Duration
}

// kinds are what is done to gateways and the database. Each says whether it did
// what it is for.
var kinds = map[string]func(*faults, *node) bool{
	"kill":     (*faults).kill,
	"stop":     (*faults).stop,
	"silence":  (*faults).silence,
	"cut":      (*faults).cut,
	"commit":   (*faults).commit,
	"backends": (*faults).backends,
	"crash":    (*faults).crash,
}

// lonely are faults of one gateway that lasts while the others go on.
var lonely = map[string]bool{"kill": true, "stop": true, "silence": true}

// strike does one fault, once all gateways work, and notes how long it lasted.
func (f *faults) strike(kind string) {
	f.t.Helper()
	f.awaitAll(kind)
	s := struck{kind: kind, node: f.rng.IntN(nodes), from: f.now()}
	if !kinds[kind](f, f.nodes[s.node]) {
		f.t.Errorf("the %s did nothing", kind)
	}
	if s.to = f.now(); kind == "crash" {
		s.node = -1
	}
	f.done = append(f.done, s)
}

// recovery is the most time that a gateway may take to work again.
const recovery = 10 * time.Second

// awaitAll waits until each gateway said yes to a change that began by now.
func (f *faults) awaitAll(before string) {
	f.t.Helper()
	since := f.now()
	for i := range f.nodes {
		for f.beat[i].Load() < int64(since+50*time.Millisecond) {
			if f.now() > since+recovery {
				f.t.Fatalf("node %d did not work again in %v, before the %s", i, recovery, before)
			}
			f.pause(10 * time.Millisecond)
		}
	}
}

func (f *faults) pause(d time.Duration) { <-time.After(d) }

// between is a time that the seed chooses.
func (f *faults) between(least, most time.Duration) time.Duration {
	return least + time.Duration(f.rng.Int64N(int64(most-least)))
}

func (f *faults) kill(n *node) bool {
	n.kill()
	f.pause(f.between(0, 500*time.Millisecond))
	n.launch()
	n.awaitReady()
	return true
}

// stop stops a gateway when another one waits for what it holds: that is the
// moment that counts.
func (f *faults) stop(n *node) bool {
	held := false
	for until := f.now() + 10*time.Second; !held && f.now() < until; {
		n.signal(syscall.SIGSTOP)
		f.pause(5 * time.Millisecond)
		waiting, err := f.query(context.Background(), `SELECT count(*) FROM pg_stat_activity w WHERE EXISTS (
			SELECT FROM pg_stat_activity s WHERE s.application_name=$1 AND s.state LIKE 'idle in transaction%' AND s.pid=ANY(pg_blocking_pids(w.pid)))`, n.name)
		if err != nil {
			f.t.Error(err)
		}
		if held = waiting > 0; !held {
			n.signal(syscall.SIGCONT)
			f.pause(f.between(time.Millisecond, 10*time.Millisecond))
		}
	}
	f.pause(f.between(2500*time.Millisecond, 3500*time.Millisecond))
	n.signal(syscall.SIGCONT)
	return held
}

// silence is a network that swallows everything, and then either delivers it or
// breaks.
func (f *faults) silence(n *node) bool {
	n.proxy.fallSilent()
	f.pause(f.between(2200*time.Millisecond, 3*time.Second))
	if f.rng.IntN(2) == 0 {
		n.proxy.cut()
	}
	n.proxy.speak()
	return true
}

func (f *faults) cut(n *node) bool {
	for range 5 {
		n.proxy.cut()
		f.pause(f.between(10*time.Millisecond, 100*time.Millisecond))
	}
	return true
}

// commit loses the answers to commits that the database got.
func (f *faults) commit(n *node) bool {
	for range 3 {
		want, until := n.proxy.cutCommit(), f.now()+recovery
		for n.proxy.cutSoFar() < want {
			if f.now() > until {
				return false
			}
			f.pause(f.between(10*time.Millisecond, 50*time.Millisecond))
		}
	}
	return true
}

func (f *faults) backends(n *node) bool {
	ended := 0
	for range 3 {
		name := n.name
		if f.rng.IntN(2) == 0 {
			name = "node%"
		}
		k, err := f.query(context.Background(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE $1`, name)
		if err != nil {
			f.t.Error(err)
		}
		ended += k
		f.pause(f.between(50*time.Millisecond, 150*time.Millisecond))
	}
	return ended > 0
}

// crash returns when the database has recovered.
func (f *faults) crash(*node) bool {
	since := func() (n int, err error) {
		return f.query(context.Background(), `SELECT (extract(epoch FROM pg_postmaster_start_time())*1000)::bigint`)
	}
	before, err := since()
	check(f.t, err)
	check(f.t, f.server.Crash())
	for until := f.now() + patience; f.now() < until; f.pause(breath) {
		if now, err := since(); err == nil && now > before {
			return true
		}
	}
	return false
}

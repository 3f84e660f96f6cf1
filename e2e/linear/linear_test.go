package linear

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/store/postgres"
	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
)

var seed = flag.Uint64("seed", 0, "of the faults; 0 is a new one")

// product finds the binary under test, or builds it.
var product = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("GATELATCH_BIN"); bin != "" {
		_, err := os.Stat(bin)
		return bin, err
	}
	dir, err := os.MkdirTemp("", "gl-bin-")
	if err != nil {
		return "", err
	}
	built = dir
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", dir, "../../cmd/gatelatch")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("can't build the product (run make test): %w\n%s", err, out)
	}
	return filepath.Join(dir, "gatelatch"), nil
})

var built string // what product made

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// REL-02, 03, 07, 11, 12, 13, 25: each fault there is happens once.
// GATELATCH_SOAK=10m makes it a campaign, each experiment with a new seed.
func TestSoakLinearizable(t *testing.T) {
	t.Parallel()
	soak := os.Getenv("GATELATCH_SOAK")
	if soak == "" {
		experiment(t, 0)
		return
	}
	length, err := time.ParseDuration(soak)
	if err != nil {
		t.Fatalf("GATELATCH_SOAK: %v", err)
	}
	for end := time.Now().Add(length); time.Now().Before(end) && !t.Failed(); {
		t.Run("", func(t *testing.T) { experiment(t, time.Minute) })
	}
}

// enough operations with an answer make a history worth checking.
const enough = 1000

// experiment does every kind of fault to gateways under load, and goes on until
// length is over. Then it checks what clients were told.
func experiment(t *testing.T, length time.Duration) {
	t.Helper()
	s := *seed
	for s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed %d", s)
	server := must(pgtest.Start())(t)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	l := newLab(t, newCluster(t, server, "linear"))
	p := l.waitPatiently()
	var clients sync.WaitGroup
	l.work(&clients)
	w := l.watch()
	f := &faults{lab: l, rng: rand.New(rand.NewPCG(s, 0))}
	func() {
		defer clients.Wait()
		defer l.over.Store(true)
		names := slices.Sorted(maps.Keys(kinds))
		for _, i := range f.rng.Perm(len(names)) {
			f.strike(names[i])
		}
		for l.now() < length {
			f.strike(names[f.rng.IntN(len(names))])
		}
		for until := l.now() + patience; l.answered.Load() < enough && l.now() < until; {
			f.pause(breath)
		}
		f.awaitAll("end")
	}()
	w.end()
	p.end()
	l.judge(f)
}

// work lets clients talk about one batch after the other.
func (l *lab) work(wg *sync.WaitGroup) {
	begin := func(name string, at func() int, n int, about func(*talk)) {
		wg.Go(func() {
			for i := 0; !l.over.Load(); i++ {
				name := fmt.Sprint(name, "_", i)
				k := &talk{l: l, name: name, session: name, command: "git push origin " + name, n: n, at: at}
				if k.propose() {
					about(k)
				} else {
					l.wait(2 * breath)
				}
			}
		})
	}
	for i := range nodes {
		begin(fmt.Sprint("steady", i), func() int { return i }, 1, (*talk).steady)
	}
	for i := range 9 {
		begin(fmt.Sprint("argue", i), l.anywhere, 1+i%most, (*talk).argue)
	}
	for i := range 3 {
		begin(fmt.Sprint("rely", i), l.anywhere, 1, (*talk).rely)
	}
}

// judge checks everything, when all is over.
func (l *lab) judge(f *faults) {
	t := l.t
	t.Helper()
	count := map[string]int{}
	for _, d := range l.ops {
		count[string(d.kind)+" "+d.code]++
	}
	t.Logf("%d operations in %v: %v", len(l.ops), l.now().Round(time.Millisecond), count)
	t.Logf("%d answered; %d internal errors, %d times unavailable, %d stale, %d without a gateway",
		l.answered.Load(), l.internal.Load(), l.unavailable.Load(), l.stale.Load(), l.absent.Load())
	if n := l.internal.Load(); n > 0 {
		t.Errorf("%d answers were internal errors: a gateway without its database is unavailable", n)
	}
	if n := l.answered.Load(); n < enough {
		t.Errorf("%d operations were answered, want %d", n, enough)
	}
	for _, k := range []kind{propose, contradict, decide, open, consume, report, finish, look, revoke} {
		if count[string(k)+" "]+count[string(k)+" conflict"] == 0 {
			t.Errorf("no %s succeeded", k)
		}
	}
	for _, s := range f.done {
		gap, at := l.gap(s)
		t.Logf("%s of node %d for %v; the longest gap at the others: %v (node %d)", s.kind, s.node, (s.to - s.from).Round(time.Millisecond), gap.Round(time.Millisecond), at)
		if lonely[s.kind] && gap > 2*time.Second {
			t.Errorf("node %d did nothing for %v after the %s of node %d", at, gap, s.kind, s.node)
		}
	}
	checkAll(t, l.ops, time.Minute)
	l.checkTrail()
}

// gap is the longest time during a fault in which one of the other gateways
// said yes to no change.
func (l *lab) gap(s struck) (longest time.Duration, at int) {
	for i := range nodes {
		if i == s.node {
			continue
		}
		ends := []time.Duration{s.from, s.to}
		for _, d := range l.ops {
			if d.node == i && d.code == "" && d.kind != look && d.end > s.from && d.end < s.to {
				ends = append(ends, d.end)
			}
		}
		slices.Sort(ends)
		for j := range ends[1:] {
			if g := ends[j+1] - ends[j]; g > longest {
				longest, at = g, i
			}
		}
	}
	return longest, at
}

// checkTrail follows the chain of events, and finds in it what clients were
// told.
func (l *lab) checkTrail() {
	t := l.t
	t.Helper()
	store := must(postgres.Open(t.Context(), l.dsn, postgres.Options{}))(t)
	defer func() { _ = store.Close() }()
	fences := map[string]int64{}
	once := map[string]int{}
	var chain audit.Chain
	err := store.View(t.Context(), func(r gatelatch.Reader) error {
		for {
			after, _ := chain.Head()
			es, err := r.Events(after, 1000)
			if err != nil || len(es) == 0 {
				return err
			}
			for _, e := range es {
				var body struct{ Fence int64 }
				if err := errors.Join(chain.Next(e), json.Unmarshal(e.Body, &body)); err != nil {
					return err
				}
				switch e.Kind {
				case gatelatch.BatchOpened:
					if body.Fence != fences[e.Batch]+1 {
						t.Errorf("batch %s was opened with fence %d after %d", e.Batch, body.Fence, fences[e.Batch])
					}
					fences[e.Batch] = body.Fence
				case gatelatch.CallConsumed:
					once["consumed "+e.Call]++
					if body.Fence != fences[e.Batch] {
						t.Errorf("call %s was consumed with fence %d, now %d", e.Call, body.Fence, fences[e.Batch])
					}
				case gatelatch.CallDecided, gatelatch.CallProposed, gatelatch.BatchFinished:
					once[string(e.Kind)+" "+e.Batch+e.Call]++
				default:
				}
			}
		}
	})
	check(t, err)
	for what, n := range once {
		if n != 1 {
			t.Errorf("%s %d times", what, n)
		}
	}
	after, _ := chain.Head()
	t.Logf("%d events, %d batches opened", after, len(fences))
}

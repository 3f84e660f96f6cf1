package sim

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model/modeltest"
	"github.com/gatelatch/gatelatch/store/memory"
)

var seedFlag = flag.Uint64("seed", 0, "play only this simulation")

// GATELATCH_SOAK makes it a campaign.
func TestSoakSimulation(t *testing.T) {
	runs := uint64(300)
	if os.Getenv("GATELATCH_SOAK") != "" {
		runs = 30_000
	}
	if *seedFlag != 0 {
		t.Log(run(t, *seedFlag))
		return
	}
	begin, base := time.Now(), rand.Uint64()>>20
	var mu sync.Mutex
	all := counts{}
	t.Run("seeds", func(t *testing.T) {
		for i := range uint64(runtime.GOMAXPROCS(0)) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for n := i; n < runs && !t.Failed(); n += uint64(runtime.GOMAXPROCS(0)) {
					seen := run(t, base+n)
					mu.Lock()
					for k, v := range seen {
						all[k] += v
					}
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%d simulations in %v: %v", runs, time.Since(begin).Round(time.Millisecond), all)
	for _, k := range sometimes {
		if !t.Failed() && all[k] == 0 {
			t.Errorf("%q was never reached", k)
		}
	}
}

// sometimes are what the simulations together have to reach.
var sometimes = []string{
	"ran", "denied", "expired", "revoked", "withdrawn", "unknown", "edited", "a node crashed", "an agent crashed", "an agent froze",
	"an answer was lost", "needed more", "resumed by another", "grant revoked", "paused",
	"a host parked", "a host ran", "taken over", "the host came back", "said with the next prompt",
}

type counts map[string]int

// storm is how long things go wrong. Then they calm down, and all has to end.
const storm = 20 * time.Minute

// world is one simulation.
type world struct {
	t     *testing.T
	seed  uint64
	store *memory.Store
	ctx   context.Context // ends the simulation
	calm  chan struct{}

	mu      sync.Mutex
	nodes   [3]*node
	started int
	step    time.Duration              // of the machine's clock
	ran     map[string]*gatelatch.Call // by id
	acked   map[string]gatelatch.Decision
	seen    counts
}

// run plays one seed and checks what is left.
func run(t *testing.T, seed uint64) counts {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("to play it again: go test ./model/sim -run TestSoakSimulation -seed %d", seed)
		}
	}()
	w := &world{t: t, seed: seed, calm: make(chan struct{}), ran: map[string]*gatelatch.Call{}, acked: map[string]gatelatch.Decision{}, seen: counts{}}
	synctest.Test(t, func(t *testing.T) {
		w.t = t
		w.store = memory.New(memory.Options{Now: func() time.Time { // without its monotonic reading: a step is a step
			w.mu.Lock()
			defer w.mu.Unlock()
			return time.Now().Round(0).Add(w.step)
		}})
		ctx, stop := context.WithTimeout(context.Background(), 24*time.Hour)
		w.ctx = ctx
		for i := range w.nodes {
			w.nodes[i] = w.start()
		}
		var agents, others sync.WaitGroup
		for i := range 3 {
			agents.Go(func() { w.agent(i) })
		}
		for i := range 2 {
			agents.Go(func() { w.host(i) })
		}
		for i := range 2 {
			others.Go(func() { w.person(i) })
		}
		others.Go(w.weather)
		agents.Wait()
		stop()
		others.Wait()
		for _, n := range w.nodes {
			n.crash()
		}
		w.check()
	})
	return w.seen
}

func (w *world) saw(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[what]++
}

func (w *world) calmed() bool {
	select {
	case <-w.calm:
		return true
	default:
		return false
	}
}

// check looks at what is left when everybody went home.
func (w *world) check() {
	ctx := context.Background()
	for range 3 { // the last deadlines, the last work
		if _, err := gatelatch.New(w.store, modeltest.Policy{}).Sweep(ctx); err != nil {
			w.t.Error(err)
		}
	}
	err := w.store.View(ctx, func(r gatelatch.Reader) error {
		calls, err := w.trail(r)
		if err != nil {
			return err
		}
		for id := range calls {
			b, err := r.BatchOfCall(id)
			if err != nil {
				return err
			}
			if b.Finished.IsZero() && !strings.HasPrefix(b.Agent, hosts) {
				w.t.Errorf("batch %s is not finished: %+v", b.ID, b.Opened)
			}
			w.settled(r, b.Call(id))
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

// settled checks one call against what was seen from outside.
func (w *world) settled(r gatelatch.Reader, c *gatelatch.Call) {
	ran, acked := w.ran[c.ID], w.acked[c.ID]
	if c.State == gatelatch.Pending {
		w.t.Errorf("call %s waits, until %v, and it is %v", c.ID, c.Deadline, r.Now())
	}
	if ran != nil && (c.State != gatelatch.Allowed || c.Consumed == nil || c.Decided.Digest != ran.Digest) {
		w.t.Errorf("call %s ran, but is %s, %+v", c.ID, c.State, c.Decided)
	}
	if o := c.Outcome; o != nil && o.Kind != gatelatch.Unknown && ran == nil {
		w.t.Errorf("call %s is reported as %s, but never ran", c.ID, o.Kind)
	}
	if acked.State != "" && (acked.Digest != c.Digest || acked.State != c.State && c.State != gatelatch.Revoked && c.State != gatelatch.Withdrawn) {
		w.t.Errorf("call %s is %s, but somebody was told that it is %s (I3)", c.ID, c.State, acked.State)
	}
	w.seen[string(c.State)]++
	if c.Outcome != nil && c.Outcome.Kind == gatelatch.Unknown {
		w.seen["unknown"]++
	}
	if c.Edited != nil {
		w.seen["edited"]++
	}
	if ran != nil {
		w.seen["ran"]++
	}
}

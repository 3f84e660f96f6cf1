//go:build linux

package crash

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/client"
)

// length is how long a test may go on: GATELATCH_SOAK=10m makes it a campaign.
func length(t *testing.T, usual time.Duration) time.Duration {
	t.Helper()
	s := os.Getenv("GATELATCH_SOAK")
	if s == "" {
		return usual
	}
	d, err := time.ParseDuration(s)
	must(t, err)
	return d
}

// chance draws by a seed, which GATELATCH_SEED sets.
func chance(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("GATELATCH_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		must(t, err)
	}
	t.Logf("GATELATCH_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Several sessions take turns at a gateway that dies at some write in each of
// its lives, starting and stopping included.
func TestSoakCrash(t *testing.T) {
	t.Parallel()
	rng := chance(t)
	ctx, stop := context.WithTimeout(t.Context(), length(t, 4*time.Second))
	defer stop()
	calm := undisturbed(t, session())
	rounds, deaths := 0, 0
	for ctx.Err() == nil && !t.Failed() {
		deaths += manyDeaths(t, rng, calm)
		rounds++
	}
	t.Logf("%d rounds, %d deaths", rounds, deaths)
	if deaths == 0 {
		t.Error("nothing was tested")
	}
}

func manyDeaths(t *testing.T, rng *rand.Rand, calm []string) (deaths int) {
	g := newGateway(t)
	doom := &disk{errno: die, kind: func(point) bool { return true }}
	live := func() {
		for doom.failAt(1 + rng.Int64N(300)); !g.startWith(doom.fault); doom.failAt(1 + rng.Int64N(300)) {
			if g.waitExit(); !g.killed() {
				t.Fatalf("the gateway does not come back: %s", g.log)
			}
			deaths++
		}
	}
	live()
	steps := session()
	desks, next := []*desk{newDesk("a"), newDesk("b"), newDesk("c")}, []int{0, 0, 0}
	for _, d := range desks {
		must(t, d.sit(g.state))
	}
	for busy := []int{0, 1, 2}; len(busy) > 0; {
		i := busy[rng.IntN(len(busy))]
		err := steps[next[i]].run(t.Context(), desks[i])
		switch {
		case err == nil:
			if next[i]++; next[i] == len(steps) {
				busy = slices.DeleteFunc(busy, func(j int) bool { return j == i })
			}
		case !errors.Is(err, client.ErrUnreachable):
			t.Fatal(err)
		default:
			g.waitExit()
			deaths++
			live()
			for _, d := range desks {
				must(t, d.remembered(t.Context()))
			}
		}
	}
	g.end(syscall.SIGTERM)
	rec, err := readFile(t.Context(), g.state)
	must(t, err)
	must(t, rec.check())
	for _, d := range desks {
		must(t, rec.keeps(d))
		sameStory(t, rec.story(d.session), calm)
	}
	return deaths
}

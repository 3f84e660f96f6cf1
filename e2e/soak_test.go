package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

// TestSoak kills the gateway again and again under load and holds what the
// clients were told against what the store says in the end: nothing
// acknowledged is lost, nothing flips, nobody waits for ever, and the trail is
// whole. GATELATCH_SOAK=10m makes it a campaign.
func TestSoak(t *testing.T) {
	t.Parallel()
	length := 4 * time.Second
	if s := os.Getenv("GATELATCH_SOAK"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	g := startGateway(t, "")
	s := &soak{t: t, dir: statedir.Dir(g.state), decided: map[string]gatelatch.State{}, told: map[string]gatelatch.State{}}
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var people, agents sync.WaitGroup
	for range 2 {
		people.Go(func() { s.decideAll(t.Context()) })
	}
	for i := range 8 {
		agents.Go(func() { s.ask(ctx, i) })
	}
	kills := s.killAndRestart(ctx, g)
	agents.Wait() // every waiter ends although nobody proposes any more
	s.over.Store(true)
	people.Wait()
	g.stop()
	s.check()
	t.Logf("%d kills, %d decisions acknowledged, %d answers", kills, len(s.decided), len(s.told))
	if kills == 0 || len(s.told) == 0 {
		t.Error("nothing was tested")
	}
}

// soak is what the clients were told.
type soak struct {
	t    *testing.T
	dir  statedir.Dir
	over atomic.Bool

	mu      sync.Mutex
	decided map[string]gatelatch.State // acknowledged to a person, by call
	told    map[string]gatelatch.State // answered to an agent, by call
}

func (s *soak) note(ledger map[string]gatelatch.State, call string, state gatelatch.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was, ok := ledger[call]; ok && was != state {
		s.t.Errorf("call %s was %s and then %s", call, was, state)
	}
	ledger[call] = state
}

// ask proposes one call after the other and waits for each, through every
// crash.
func (s *soak) ask(ctx context.Context, agent int) {
	c, err := client.ForAgents(s.dir)
	if err != nil {
		s.t.Error(err)
		return
	}
	svc := &client.Patient{Client: c, Grace: time.Minute}
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("%d_%d", agent, n)
		b, err := svc.Propose(s.t.Context(), gatelatch.Proposal{
			Session: gatelatch.SessionInfo{ID: fmt.Sprint("soak", agent)}, Message: name,
			Calls: []gatelatch.ProposedCall{{Ref: name, Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"git push && echo <` + name + `>"}`)}},
		})
		if err == nil {
			b, err = svc.Await(s.t.Context(), b.ID, gatelatch.Hold{Holder: "holder_" + name, Consume: true})
		}
		if err != nil {
			s.t.Errorf("agent %d: %v", agent, err)
			return
		}
		s.note(s.told, b.Calls[0].ID, b.Calls[0].State)
	}
}

// decideAll is a person who decides whatever waits, at random.
func (s *soak) decideAll(ctx context.Context) {
	c, err := client.ForPeople(s.dir)
	if err != nil {
		s.t.Error(err)
		return
	}
	var idle client.Backoff
	for !s.over.Load() {
		list, err := c.Calls(ctx, "pending", "", 0)
		if err != nil && !client.Again(err) {
			s.t.Error(err)
			return
		}
		for _, call := range list.Calls {
			state := []gatelatch.State{gatelatch.Allowed, gatelatch.Denied}[rand.IntN(2)]
			_, err := c.Decide(ctx, call.ID, api.Decision{State: string(state), Digest: call.Digest})
			switch {
			case err == nil:
				s.note(s.decided, call.ID, state)
			case !client.Again(err) && !errors.Is(err, gatelatch.ErrSettled):
				s.t.Error(err)
			}
		}
		if len(list.Calls) > 0 {
			idle = client.Backoff{}
		} else if idle.Wait(ctx) != nil {
			return
		}
	}
}

func (s *soak) killAndRestart(ctx context.Context, g *gateway) (kills int) {
	for {
		wait := time.NewTimer(50*time.Millisecond + rand.N(400*time.Millisecond))
		select {
		case <-ctx.Done():
			wait.Stop()
			return kills
		case <-wait.C:
		}
		g.kill()
		g.start()
		kills++
	}
}

// check reads the store as the last gateway left it.
func (s *soak) check() {
	store, err := sqlite.Open(s.t.Context(), s.dir.Database(), sqlite.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	err = store.View(s.t.Context(), func(r gatelatch.Reader) error {
		for what, ledger := range map[string]map[string]gatelatch.State{"decided": s.decided, "told": s.told} {
			for call, state := range ledger {
				b, err := r.BatchOfCall(call)
				if err != nil {
					return fmt.Errorf("call %s, %s as %s: %w", call, what, state, err)
				}
				if got := b.Call(call).State; got != state {
					s.t.Errorf("call %s was %s as %s and is stored as %s", call, what, state, got)
				}
			}
		}
		return s.checkTrail(r)
	})
	if err != nil {
		s.t.Error(err)
	}
}

// checkTrail follows the chain: each call decided once, each batch opened once.
func (s *soak) checkTrail(r gatelatch.Reader) error {
	var chain audit.Chain
	once := map[string]int{}
	for {
		after, _ := chain.Head()
		es, err := r.Events(after, 1000)
		if err != nil || len(es) == 0 {
			return err
		}
		for _, e := range es {
			if err := chain.Next(e); err != nil {
				return err
			}
			switch e.Kind {
			case gatelatch.CallDecided, gatelatch.CallWithdrawn, gatelatch.CallExpired:
				once["settled "+e.Call]++
			case gatelatch.BatchOpened, gatelatch.CallProposed:
				once[string(e.Kind)+e.Batch+e.Call]++
			}
		}
		for what, n := range once {
			if n != 1 {
				s.t.Errorf("%s %d times", what, n)
			}
		}
	}
}

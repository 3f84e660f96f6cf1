package modeltest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model"
	"pgregory.net/rapid"
)

var (
	mira = gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_mira", Name: "mira"}
	otto = gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_otto", Name: "otto"}
)

// A history is one run of a gate beside the model.
type history struct {
	*rapid.T
	*worker
	dice    rand.PCG
	world   *model.World
	trail   *Trail
	gates   [2]*gatelatch.Gate // two gateways over one store
	agents  [2]gatelatch.Actor
	batches map[string]*model.Batch // by the gate's id
	ids     []string                // the gate's, by the model's less 1
	calls   [][]string
	grants  []string
	shown   map[*model.Call]map[string]gatelatch.Sum // the digest with each input

	clicked   func() // the last decision, to be made again
	restarted bool
}

// restart loses everything that is not in the store.
func (h *history) restart() {
	for i := range h.gates {
		h.gates[i] = gatelatch.New(h.store, Policy{})
		h.gates[i].Retention = 100 * 365 * 24 * time.Hour
	}
}

// seat is who's place at either gateway.
func (h *history) seat(who gatelatch.Actor) *gatelatch.Seat { return h.gates[h.n(2)].As(who) }

func (h *history) agent(b *model.Batch) *gatelatch.Seat { return h.seat(h.asker(b)) }

func (h *history) asker(b *model.Batch) gatelatch.Actor {
	return h.agents[slices.IndexFunc(h.agents[:], func(a gatelatch.Actor) bool { return a.ID == b.Agent })]
}

func (h *history) sweep(g *gatelatch.Gate) {
	for range 100 { // a store that others used may have more than one round of work
		wait, err := g.Sweep(context.Background())
		h.must(err)
		if wait > time.Second {
			break
		}
	}
	h.world.Sweep()
}

// n draws a number below k.
func (h *history) n(k int) int { return int(h.dice.Uint64() % uint64(k)) }

func (h *history) chance(of int) bool { return h.n(of) == of-1 }

func one[T any](h *history, of ...T) T { return of[h.n(len(of))] }

// call draws a call, more often one that fits; nil if there is none at all.
func (h *history) call(fits func(*model.Call) bool) *model.Call {
	var all, good []*model.Call
	for _, b := range h.world.Batches {
		for _, c := range b.Calls {
			if all = append(all, c); fits(c) {
				good = append(good, c)
			}
		}
	}
	switch {
	case len(good) > 0 && !h.chance(6):
		return good[h.n(len(good))]
	case len(all) > 0:
		return all[h.n(len(all))]
	}
	return nil
}

func (h *history) any(fits func(*model.Call) bool) bool {
	return slices.ContainsFunc(h.world.Batches, func(b *model.Batch) bool { return slices.ContainsFunc(b.Calls, fits) })
}

// batch draws a batch, more often one with a call that fits.
func (h *history) batch(fits func(*model.Call) bool) *model.Batch {
	if c := h.call(fits); c != nil {
		return c.Batch
	}
	return nil
}

// fence draws a fence, mostly the right one.
func (h *history) fence(b *model.Batch) int64 {
	if h.chance(8) {
		return one(h, 0, b.Fence-1, b.Fence+1)
	}
	return b.Fence
}

// input draws what somebody thinks the input of c is, mostly rightly.
func (h *history) input(c *model.Call) string {
	if h.chance(8) {
		return one(h, `"bogus"`, c.Asked)
	}
	return c.Input
}

func (h *history) digest(c *model.Call, input string) gatelatch.Sum {
	if d, ok := h.shown[c][input]; ok {
		return d
	}
	return gatelatch.SumOf([]byte(input))
}

func (h *history) id(c *model.Call) string { return h.calls[c.Batch.ID-1][c.ID-1] }

// words are the names the model gives to the gate's errors.
var words = map[string]error{
	"settled": gatelatch.ErrSettled, "changed": gatelatch.ErrChanged, "conflict": gatelatch.ErrConflict, "opened": gatelatch.ErrOpened,
	"fenced": gatelatch.ErrFenced, "finished": gatelatch.ErrFinished, "consumed": gatelatch.ErrConsumed, "order": gatelatch.ErrOrder, "unfinished": gatelatch.ErrUnfinished,
	"waiting": gatelatch.ErrWaiting, "paused": gatelatch.ErrPaused, "invalid": gatelatch.ErrInvalid,
	"missing": gatelatch.ErrNotFound, "forbidden": gatelatch.ErrForbidden,
}

func word(err error) string {
	for w, e := range words {
		if errors.Is(err, e) {
			return w
		}
	}
	return err.Error()
}

// agree compares how something went. It reports whether it was done.
func (h *history) agree(what string, err error, why model.Why) bool {
	h.Logf("%s: %v", what, err)
	switch {
	case err == nil && len(why) > 0:
		h.Fatalf("%s was done, but is refused because of %v", what, why)
	case err != nil && !slices.Contains(why, word(err)):
		h.Fatalf("%s was refused with %q, model: %v", what, err, why)
	}
	if err != nil {
		h.seen[what+": "+word(err)]++
	}
	return err == nil
}

func (h *history) must(err error) {
	if err != nil {
		h.Fatal(err)
	}
}

package sim

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/model/modeltest"
)

var (
	errDown  = errors.New("the gateway is down")
	errStore = errors.New("the store failed")
	errLost  = errors.New("the connection was lost in a commit: nobody knows")
)

// A node is one gateway. Whatever it has in memory ends with it.
type node struct {
	gate *gatelatch.Gate
	ctx  context.Context // ends the node
	stop context.CancelCauseFunc
	run  sync.WaitGroup
}

func (w *world) start() *node {
	n := &node{}
	n.ctx, n.stop = context.WithCancelCause(context.Background())
	n.gate = gatelatch.New(&flaky{w.store, w, n}, modeltest.Policy{})
	w.mu.Lock()
	w.started++
	name := fmt.Sprint("node", w.started)
	w.mu.Unlock()
	n.run.Go(func() { n.gate.Run(w.with(n.ctx, name)) })
	return n
}

func (n *node) crash() {
	n.stop(errDown)
	n.run.Wait()
}

// node returns one of the gateways, which may crash at any time.
func (w *world) node(d *dice) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes[d.IntN(len(w.nodes))]
}

// in gives a context that ends with the node, too.
func (n *node) in(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(n.ctx, func() { cancel(errDown) })
	return ctx, func() { stop(); cancel(nil) }
}

// dice are an actor's own, so that what one does changes nobody else's luck.
type dice struct{ *rand.Rand }

func (d *dice) chance(of int) bool { return d.IntN(of) == 0 }

// upTo draws a duration. No two are alike, so that the order of events does
// not hang on the scheduler.
func (d *dice) upTo(t time.Duration) time.Duration { return time.Duration(d.Int64N(int64(t))) }

type diceKey struct{}

// with gives an actor dice of its own.
func (w *world) with(ctx context.Context, name string) context.Context {
	sum := gatelatch.SumOf([]byte(name))
	return context.WithValue(ctx, diceKey{}, &dice{rand.New(rand.NewPCG(w.seed, binary.BigEndian.Uint64(sum[:])))})
}

func diceOf(ctx context.Context) *dice {
	d, _ := ctx.Value(diceKey{}).(*dice)
	return d
}

// sleep waits in virtual time. It reports whether ctx is still good.
func sleep(ctx context.Context, t time.Duration) bool {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// flaky is the store as a node reaches it.
type flaky struct {
	gatelatch.Store
	world *world
	node  *node
}

// fails waits a little and returns why the store can't be reached, if so.
func (f *flaky) fails(ctx context.Context) error {
	d := diceOf(ctx)
	if d == nil {
		return nil
	}
	if !sleep(ctx, d.upTo(20*time.Millisecond)) {
		return context.Cause(ctx)
	}
	if !f.world.calmed() && d.chance(30) {
		return errStore
	}
	return nil
}

func (f *flaky) alive() error { return context.Cause(f.node.ctx) }

func (f *flaky) Update(ctx context.Context, fn func(gatelatch.Tx) error) error {
	if err := errors.Join(f.fails(ctx), f.alive()); err != nil {
		return err
	}
	err := f.Store.Update(ctx, fn)
	if e := errors.Join(f.fails(ctx), f.alive()); err == nil && e != nil {
		f.world.saw("an answer was lost")
		return errLost
	}
	return err
}

func (f *flaky) View(ctx context.Context, fn func(gatelatch.Reader) error) error {
	if err := errors.Join(f.fails(ctx), f.alive()); err != nil {
		return err
	}
	return f.Store.View(ctx, fn)
}

// weather lets gateways crash and the clock jump until it calms down.
func (w *world) weather() {
	ctx := w.with(w.ctx, "weather")
	d := diceOf(ctx)
	for end := time.Now().Add(storm); time.Now().Before(end); {
		if !sleep(ctx, d.upTo(4*time.Minute)) {
			return
		}
		switch d.IntN(3) {
		case 0:
			w.mu.Lock()
			w.step += d.upTo(6*time.Minute) - 3*time.Minute
			w.mu.Unlock()
		default:
			i := d.IntN(len(w.nodes))
			w.mu.Lock()
			old := w.nodes[i]
			w.mu.Unlock()
			old.crash()
			w.saw("a node crashed")
			sleep(ctx, d.upTo(time.Minute))
			fresh := w.start()
			w.mu.Lock()
			w.nodes[i] = fresh
			w.mu.Unlock()
		}
	}
	close(w.calm)
}

// trail checks the whole trail and returns the calls it names.
func (w *world) trail(r gatelatch.Reader) (map[string]bool, error) {
	var chain audit.Chain
	trail, calls := modeltest.NewTrail(), map[string]bool{}
	for {
		after, _ := chain.Head()
		es, err := r.Events(after, 1000)
		if err != nil || len(es) == 0 {
			return calls, err
		}
		for _, e := range es {
			if err := errors.Join(chain.Next(e), trail.Next(e)); err != nil {
				return nil, err
			}
			switch e.Kind {
			case gatelatch.CallProposed:
				calls[e.Call] = true
			case gatelatch.BatchRepeated:
				w.seen["taken over"]++
			case gatelatch.BatchUnparked:
				w.seen["the host came back"]++
			default:
			}
		}
	}
}

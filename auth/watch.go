package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
)

// watchEvery is how often keys are looked at again that something open was
// entered with. A revocation holds there within a second.
const watchEvery = 400 * time.Millisecond

// watch knows what is open, by the key it was entered with.
type watch struct {
	mu   sync.Mutex
	open map[shown]map[*func()]struct{}
	stop context.CancelFunc
}

// shown is a key with the secrets it was shown with.
type shown struct {
	id           string
	hash, second gatelatch.Sum
}

// Watch calls ended once if the key stops letting in before leave is called.
// ended must neither wait nor leave.
func (a *Auth) Watch(k *gatelatch.Key, ended func()) (leave func()) {
	w, s := &a.watch, shown{k.ID, k.Hash, k.Second}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) == 0 {
		ctx, stop := context.WithCancel(context.Background())
		w.open, w.stop = map[shown]map[*func()]struct{}{}, stop
		go a.look(ctx)
	}
	if w.open[s] == nil {
		w.open[s] = map[*func()]struct{}{}
	}
	w.open[s][&ended] = struct{}{}
	return func() { w.leave(s, &ended) }
}

func (w *watch) leave(s shown, ended *func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, in := w.open[s][ended]; !in {
		return
	}
	if delete(w.open[s], ended); len(w.open[s]) == 0 {
		delete(w.open, s)
	}
	if len(w.open) == 0 {
		w.stop()
	}
}

// While returns a context that ends when the key stops letting in.
func (a *Auth) While(ctx context.Context, k *gatelatch.Key) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	leave := a.Watch(k, func() { end(ErrNobody) })
	return ctx, func() {
		leave()
		end(context.Canceled)
	}
}

func (a *Auth) look(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		gone, err := a.gone(ctx, a.watch.keys())
		if err == nil { // from a store that can't be read nobody learns anything
			a.watch.end(gone)
		}
	}
}

func (w *watch) keys() (out []shown) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.open {
		out = append(out, s)
	}
	return out
}

func (a *Auth) gone(ctx context.Context, all []shown) (out []shown, err error) {
	err = a.store.View(ctx, func(r gatelatch.Reader) error {
		out = nil
		for _, s := range all {
			err := a.still(r, &gatelatch.Key{ID: s.id, Hash: s.hash, Second: s.second})
			switch {
			case errors.Is(err, ErrNobody):
				out = append(out, s)
			case err != nil:
				return err
			}
		}
		return nil
	})
	return out, err
}

// end tells everybody with those keys.
func (w *watch) end(gone []shown) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range gone {
		for ended := range w.open[s] {
			(*ended)()
		}
		delete(w.open, s)
	}
	if len(w.open) == 0 {
		w.stop()
	}
}

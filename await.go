package gatelatch

import (
	"context"

	"github.com/gatelatch/gatelatch/internal/twin"
)

// Await implements Service.
func (s *Seat) Await(ctx context.Context, batchID string, h Hold) (*Batch, error) {
	if _, err := s.own(ctx, batchID); err != nil { // who watches another's is not who waits for it
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wake := s.gate.hub.batch(ctx, batchID)
	for {
		if b, held, err := s.Look(ctx, batchID, h); err != nil || held {
			return b, err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Look is Await that does not wait: it returns the batch and whether h holds it
// now. Watch first, and look again whenever it rings.
func (s *Seat) Look(ctx context.Context, batchID string, h Hold) (b *Batch, held bool, err error) {
	if err := h.check(); err != nil {
		return nil, false, err
	}
	// Read before writing: a write would wake the other waiters, and each
	// of them would write again.
	if b, err = s.own(ctx, batchID); err != nil {
		return nil, false, err
	}
	if err := s.rejoin(ctx, b); err != nil {
		return nil, false, err
	}
	if b.Held() && b.Opened.Holder == h.Holder && b.Opened.All == h.Consume {
		return b, true, nil
	}
	if b.Ready() {
		if err := s.holds(ctx, b); err != nil {
			return nil, false, err
		}
		b, err = s.open(ctx, batchID, h)
		return b, err == nil, err
	}
	return b, false, nil
}

// Watch calls ring after each change of a batch of this agent, until stop. It is
// for who can't spend a goroutine on waiting; ring must not wait.
func (s *Seat) Watch(batchID string, ring func()) (stop func()) {
	return s.gate.hub.watch(batchID, ring)
}

func (s *Seat) open(ctx context.Context, batchID string, h Hold) (out *Batch, err error) {
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if out, err = tx.Batch(batchID); err != nil {
			return err
		}
		if err := s.openIfReady(tx, out, h); err != nil || twin.Is == "memory_latch" {
			return err
		}
		return tx.SaveBatch(out)
	})
	return out, err
}

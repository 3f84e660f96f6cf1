package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func changes(t *testing.T, open Open) {
	s := fresh(t, open)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	told := make(chan gatelatch.Change, 16)
	s.Changes(ctx, func(c gatelatch.Change) { told <- c })
	create(t, s, waiting("m1", 1))
	c := <-told
	if !slices.Contains(c.Batches, "bat_m1") {
		t.Errorf("change %+v does not name the batch", c)
	}
	if seq := view(t, s, func(r gatelatch.Reader) (gatelatch.Seq, error) { return r.LastSeq() }); c.Seq != seq {
		t.Errorf("change at %d, trail ends at %d", c.Seq, seq)
	}
}

func unchanged(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 1))
	var mu sync.Mutex
	n := 0
	s.Changes(t.Context(), func(gatelatch.Change) { mu.Lock(); n++; mu.Unlock() })
	must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error {
		b, err := tx.Batch("bat_m1")
		if err != nil {
			return err
		}
		return tx.SaveBatch(b)
	}))
	mu.Lock()
	defer mu.Unlock()
	if n != 0 {
		t.Error("a write that changed nothing woke somebody")
	}
}

func closing(t *testing.T, open Open) {
	s := open(t, t.TempDir())
	create(t, s, waiting("m0", 1))
	var wg sync.WaitGroup
	begun := make(chan struct{}, 64)
	for i := range 16 {
		wg.Go(func() {
			for n := 0; ; n++ {
				err := s.Update(context.Background(), func(tx gatelatch.Tx) error {
					return tx.SaveBatch(newBatch(fmt.Sprintf("m%d_%d", i+1, n), 1, tx.Now()))
				})
				if n == 0 {
					begun <- struct{}{}
				}
				if errors.Is(err, gatelatch.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("while closing: %v", err)
					return
				}
			}
		})
	}
	for range 16 {
		<-begun
	}
	must(t, s.Close())
	wg.Wait()
	if err := s.View(context.Background(), func(gatelatch.Reader) error { return nil }); !errors.Is(err, gatelatch.ErrClosed) {
		t.Errorf("reading a closed store: %v", err)
	}
}

func panicking(t *testing.T, open Open) {
	s := fresh(t, open)
	if err := s.Update(t.Context(), func(gatelatch.Tx) error { panic("boom") }); err == nil {
		t.Error("a panic was a success")
	}
	create(t, s, waiting("m1", 1))
}

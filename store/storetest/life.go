package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

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

// Saving a batch is several writes. One that fails in the middle undoes them
// all, even if the change goes on as if nothing had happened.
func tornSave(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 1))
	err := s.Update(t.Context(), func(tx gatelatch.Tx) error {
		b := newBatch("m2", 2, tx.Now())
		b.Calls[1].Ref = "ref_m1_0"
		_ = tx.SaveBatch(b)
		return nil
	})
	if !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("a ref that another call has: %v, want ErrStale", err)
	}
	if err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Batch("bat_m2"); return err }); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("half of it is there: %v", err)
	}
	if n := len(checkTrail(t, s)); n != 2 {
		t.Errorf("%d events, want those of the first", n)
	}
}

func timeForward(t *testing.T, open Open) {
	dir := t.TempDir()
	s := open(t, dir)
	ahead := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Microsecond)
	must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error {
		return tx.Record(gatelatch.Event{Kind: gatelatch.GatePaused, By: person, At: ahead})
	}))
	must(t, s.Close())
	s = open(t, dir) // as if the clock had been set back since
	t.Cleanup(func() { _ = s.Close() })
	now := func() time.Time {
		return view(t, s, func(r gatelatch.Reader) (time.Time, error) { return r.Now(), nil })
	}
	first := now()
	if first.Before(ahead) {
		t.Errorf("it is %v, the trail ends at %v", first, ahead)
	}
	create(t, s, waiting("m1", 1))
	if second := now(); !second.After(first) {
		t.Errorf("time stands still at %v", second)
	}
	if b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_m1") }); b.Created.Before(first) {
		t.Errorf("created at %v, after %v", b.Created, first)
	}
}

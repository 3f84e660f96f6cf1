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

func messages(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 1))
	err := s.Update(t.Context(), func(tx gatelatch.Tx) error {
		b := newBatch("m1", 1, tx.Now())
		b.ID = "bat_other"
		return tx.SaveBatch(b)
	})
	if !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("a second batch for one message: %v", err)
	}
	find := func(agent string) error {
		return s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.BatchOfMessage(agent, "s1", "m1"); return err })
	}
	must(t, find(agent.ID))
	if err := find("key_other"); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("another agent finds the batch: %v", err)
	}
}

func pairs(t *testing.T, open Open) {
	s := fresh(t, open)
	pair := gatelatch.SumOf([]byte("pair"))
	for _, m := range []string{"gone", "m1", "m2"} {
		create(t, s, func(at time.Time) *gatelatch.Batch {
			b := newBatch(m, 1, at)
			b.Pair = pair
			return b
		})
	}
	change := func(id string, fn func(*gatelatch.Batch, time.Time) error) {
		t.Helper()
		must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error {
			b, err := tx.Batch(id)
			if err != nil {
				return err
			}
			if err := fn(b, tx.Now()); err != nil {
				return err
			}
			return tx.SaveBatch(b)
		}))
	}
	find := func(holder string) string {
		var id string
		err := s.View(t.Context(), func(r gatelatch.Reader) error {
			b, err := r.BatchOfPair(agent.ID, pair, holder)
			if err == nil {
				id = b.ID
			}
			return err
		})
		if err != nil && !errors.Is(err, gatelatch.ErrNotFound) {
			t.Fatal(err)
		}
		return id
	}
	change("bat_gone", func(b *gatelatch.Batch, at time.Time) error { return b.Withdraw(agent, "gone", at) })
	if got := find("h1"); got != "bat_m1" {
		t.Errorf("found %q, want the oldest that is not gone", got)
	}
	change("bat_m1", func(b *gatelatch.Batch, at time.Time) error { return b.Claim("h1", agent, at) })
	if got, other := find("h1"), find("h2"); got != "bat_m1" || other != "bat_m2" {
		t.Errorf("h1 found %q, h2 found %q: a claimed batch is for who claimed it", got, other)
	}
	must(t, decide(s, "cal_m2_0", "mira", gatelatch.Allowed))
	change("bat_m2", func(b *gatelatch.Batch, at time.Time) error { return b.Open("h2", agent, at) })
	if got := find("h3"); got != "" {
		t.Errorf("found %q, want none: one is claimed, one opened, one gone", got)
	}
}

func refs(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 2))
	b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.BatchOfRef(agent.ID, "s1", "ref_m1_1") })
	if b.ID != "bat_m1" {
		t.Errorf("found %s", b.ID)
	}
	for _, ref := range []string{"", "other"} {
		err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.BatchOfRef(agent.ID, "s1", ref); return err })
		if !errors.Is(err, gatelatch.ErrNotFound) {
			t.Errorf("ref %q: %v", ref, err)
		}
	}
}

func deadlines(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("none", 1))
	var at time.Time
	create(t, s, func(now time.Time) *gatelatch.Batch {
		at = now
		b := newBatch("soon", 2, now)
		b.Calls[0].Deadline, b.Calls[1].Deadline = now.Add(time.Minute), now.Add(time.Hour)
		return b
	})
	overdue := func(t0 time.Time) (calls []string, next time.Time) {
		must(t, s.View(t.Context(), func(r gatelatch.Reader) (err error) { calls, next, err = r.Overdue(t0, 10); return err }))
		return calls, next
	}
	if calls, next := overdue(at); len(calls) != 0 || !next.Equal(at.Add(time.Minute)) {
		t.Errorf("at once: %v, next %v", calls, next)
	}
	calls, next := overdue(at.Add(time.Minute))
	if !slices.Equal(calls, []string{"cal_soon_0"}) || !next.Equal(at.Add(time.Hour)) {
		t.Errorf("after a minute: %v, next %v", calls, next)
	}
	if calls, next := overdue(at.AddDate(100, 0, 0)); len(calls) != 2 || !next.IsZero() {
		t.Errorf("after a century: %v, next %v", calls, next)
	}
}

func lists(t *testing.T, open Open) {
	s := fresh(t, open)
	var want []string
	for i := range 7 {
		b := create(t, s, waiting(fmt.Sprint("m", i), 3))
		for _, c := range b.Calls {
			want = append(want, c.ID)
		}
	}
	if got := all(t, s, true); !slices.Equal(got, want) {
		t.Errorf("waiting: %v, want oldest first %v", got, want)
	}
	for _, id := range want {
		must(t, decide(s, id, "mira", gatelatch.Denied))
	}
	got := all(t, s, false)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(all(t, s, true)) != 0 {
		t.Errorf("settled: %v, want all of %v", got, want)
	}
}

func all(t *testing.T, s gatelatch.Store, pending bool) (ids []string) {
	t.Helper()
	q := gatelatch.Query{Pending: pending, Limit: 4}
	for {
		p := view(t, s, func(r gatelatch.Reader) (gatelatch.Page, error) { return r.List(q) })
		for _, l := range p.Calls {
			if l.Call == nil || l.Batch == nil || l.Session == nil {
				t.Fatal("a listed call is not whole")
			}
			ids = append(ids, l.ID)
		}
		if !p.More {
			return ids
		}
		q.After = ids[len(ids)-1]
	}
}

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

func keys(t *testing.T, open Open) {
	s := fresh(t, open)
	k := &gatelatch.Key{ID: "key_1", Kind: gatelatch.AskKey, Name: "n", Hash: gatelatch.SumOf([]byte("secret"))}
	must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error { return tx.SaveKey(k) }))
	got := view(t, s, func(r gatelatch.Reader) (*gatelatch.Key, error) { return r.KeyByHash(k.Hash) })
	if got.ID != k.ID || got.Kind != k.Kind {
		t.Errorf("found %+v", got)
	}
	err := s.Update(t.Context(), func(tx gatelatch.Tx) error {
		return tx.SaveKey(&gatelatch.Key{ID: "key_2", Hash: k.Hash})
	})
	if !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("two keys with one secret: %v", err)
	}
}

func pauseKept(t *testing.T, open Open) {
	dir := t.TempDir()
	s := open(t, dir)
	must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error {
		return tx.SavePause(gatelatch.Pause{On: true, Note: "stop", At: tx.Now()})
	}))
	must(t, s.Close())
	s = open(t, dir)
	t.Cleanup(func() { _ = s.Close() })
	if p := view(t, s, func(r gatelatch.Reader) (gatelatch.Pause, error) { return r.Pause() }); !p.On || p.Note != "stop" {
		t.Errorf("after restart %+v", p)
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

func permits(t *testing.T, open Open) {
	s := fresh(t, open)
	for _, m := range []string{"waits", "denied", "allowed", "opened"} {
		create(t, s, waiting(m, 1))
	}
	must(t, decide(s, "cal_denied_0", "mira", gatelatch.Denied))
	must(t, decide(s, "cal_allowed_0", "mira", gatelatch.Allowed))
	must(t, decide(s, "cal_opened_0", "mira", gatelatch.Allowed))
	change := func(id string, fn func(*gatelatch.Batch, time.Time) error) {
		t.Helper()
		must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error {
			b, err := tx.Batch(id)
			if err != nil {
				return err
			}
			if err := fn(b, tx.Now()); err != nil {
				return err
			}
			return tx.SaveBatch(b)
		}))
	}
	change("bat_opened", func(b *gatelatch.Batch, at time.Time) error { return b.Open("h", agent, at) })
	list := func() []string {
		return view(t, s, func(r gatelatch.Reader) ([]string, error) { return r.Permits(10) })
	}
	if got := list(); !slices.Equal(got, []string{"bat_allowed"}) {
		t.Errorf("permits %v", got)
	}
	change("bat_allowed", func(b *gatelatch.Batch, at time.Time) error { return b.Revoke(agent, "stop", at) })
	if got := list(); len(got) != 0 {
		t.Errorf("permits after revoking %v", got)
	}
}

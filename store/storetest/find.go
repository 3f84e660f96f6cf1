package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

var finding = map[string]func(*testing.T, Open){
	"a message is one batch for each agent (T9)":   messages,
	"pairs find the oldest batch that nobody took": pairs,
	"a call id is asked about once (D9)":           refs,
	"the clock finds what is due, oldest first":    due,
	"only calls with a deadline become due (T6)":   deadlines,
	"permits are what is allowed and not consumed": permits,
	"lists page through everything once":           lists,
	"the newest come first if asked":               newest,
}

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
	must(t, change(s, "bat_gone", func(b *gatelatch.Batch, at time.Time) error { b.Withdraw(agent, "gone", at); return nil }))
	if got := find("h1"); got != "bat_m1" {
		t.Errorf("found %q, want the oldest that is not gone", got)
	}
	must(t, change(s, "bat_m1", func(b *gatelatch.Batch, at time.Time) error { return b.Claim("h1", agent, at) }))
	if got, other := find("h1"), find("h2"); got != "bat_m1" || other != "bat_m2" {
		t.Errorf("h1 found %q, h2 found %q: a claimed batch is for who claimed it", got, other)
	}
	must(t, decide(s, "cal_m2_0", "mira", gatelatch.Allowed))
	must(t, change(s, "bat_m2", opening("h2")))
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
	err := s.Update(t.Context(), func(tx gatelatch.Tx) error {
		b := newBatch("m2", 1, tx.Now())
		b.Calls[0].Ref = "ref_m1_0"
		return tx.SaveBatch(b)
	})
	if !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("another batch with the same call: %v, want ErrStale", err)
	}
	create(t, s, func(at time.Time) *gatelatch.Batch {
		b := newBatch("m3", 2, at) // no id is not the same id
		b.Calls[0].Ref, b.Calls[1].Ref = "", ""
		return b
	})
	create(t, s, func(at time.Time) *gatelatch.Batch {
		b := newBatchIn("s2", "m4", 1, at) // another session has ids of its own
		b.Calls[0].Ref = "ref_m1_0"
		return b
	})
}

func deadlines(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("never", 1))
	b := create(t, s, limited("soon", time.Minute))
	far := b.Created.AddDate(100, 0, 0)
	ids, next := dueAt(t, s, far, 10)
	if !slices.Equal(ids, []string{"bat_soon"}) || !next.IsZero() {
		t.Errorf("after a century: %v, next %v", ids, next)
	}
	must(t, change(s, "bat_soon", func(b *gatelatch.Batch, _ time.Time) error { b.Tick(far); return nil }))
	if ids, next := dueAt(t, s, far, 10); len(ids) != 0 || !next.IsZero() {
		t.Errorf("after it expired: %v, next %v", ids, next)
	}
}

// limited is a batch with one call that may wait for some time.
func limited(message string, limit time.Duration) func(time.Time) *gatelatch.Batch {
	return func(at time.Time) *gatelatch.Batch {
		b := newBatch(message, 1, at)
		b.Calls[0].Deadline = at.Add(limit)
		return b
	}
}

func dueAt(t *testing.T, s gatelatch.Store, at time.Time, limit int) (ids []string, next time.Time) {
	t.Helper()
	must(t, s.View(t.Context(), func(r gatelatch.Reader) (err error) { ids, next, err = r.Due(at, limit); return err }))
	return ids, next
}

func due(t *testing.T, open Open) {
	s := fresh(t, open)
	last := create(t, s, limited("last", time.Hour))
	second := create(t, s, limited("second", 2*time.Minute))
	first := create(t, s, limited("first", time.Minute))
	when := func(b *gatelatch.Batch) time.Time { return b.Calls[0].Deadline }
	for _, c := range []struct {
		at    time.Time
		limit int
		want  []string
		next  time.Time
	}{
		{when(first).Add(-time.Microsecond), 10, nil, when(first)},
		{when(first), 10, []string{"bat_first"}, when(second)},
		{when(second), 10, []string{"bat_first", "bat_second"}, when(last)},
		{when(second), 1, []string{"bat_first"}, when(last)},
		{when(last), 10, []string{"bat_first", "bat_second", "bat_last"}, time.Time{}},
	} {
		if ids, next := dueAt(t, s, c.at, c.limit); !slices.Equal(ids, c.want) || !next.Equal(c.next) {
			t.Errorf("at %v: %v, next %v; want %v, next %v", c.at, ids, next, c.want, c.next)
		}
	}
	// An allow lapses later than the call would have expired.
	must(t, decide(s, "cal_first_0", "mira", gatelatch.Allowed))
	if ids, _ := dueAt(t, s, when(first), 10); len(ids) != 0 {
		t.Errorf("due after it was allowed: %v", ids)
	}
	if ids, _ := dueAt(t, s, when(first).Add(gatelatch.PermitLife), 10); !slices.Contains(ids, "bat_first") {
		t.Errorf("due when the allow lapses: %v", ids)
	}
}

func opening(holder string) func(*gatelatch.Batch, time.Time) error {
	return func(b *gatelatch.Batch, at time.Time) error {
		return b.Open(gatelatch.Hold{Holder: holder, Consume: true}, agent, at)
	}
}

func permits(t *testing.T, open Open) {
	s := fresh(t, open)
	for _, m := range []string{"b_waits", "c_denied", "d_allowed", "a_allowed", "e_consumed"} {
		create(t, s, waiting(m, 1))
	}
	must(t, decide(s, "cal_c_denied_0", "mira", gatelatch.Denied))
	for _, m := range []string{"d_allowed", "a_allowed", "e_consumed"} {
		must(t, decide(s, "cal_"+m+"_0", "mira", gatelatch.Allowed))
	}
	must(t, change(s, "bat_e_consumed", opening("h")))
	list := func(after string, limit int) []string {
		return view(t, s, func(r gatelatch.Reader) ([]string, error) { return r.Permits(after, limit) })
	}
	if got := list("", 10); !slices.Equal(got, []string{"bat_a_allowed", "bat_d_allowed"}) {
		t.Errorf("permits %v", got)
	}
	if got := list("", 1); !slices.Equal(got, []string{"bat_a_allowed"}) {
		t.Errorf("the first of them is %v", got)
	}
	if got := list("bat_a_allowed", 10); !slices.Equal(got, []string{"bat_d_allowed"}) {
		t.Errorf("behind the first come %v", got)
	}
	must(t, change(s, "bat_a_allowed", func(b *gatelatch.Batch, at time.Time) error { b.Revoke(agent, "stop", at); return nil }))
	if got := list("", 10); !slices.Equal(got, []string{"bat_d_allowed"}) {
		t.Errorf("permits after revoking %v", got)
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
	if got := all(t, s, gatelatch.Query{Pending: true}); !slices.Equal(got, want) {
		t.Errorf("waiting: %v, want oldest first %v", got, want)
	}
	for _, id := range want {
		must(t, decide(s, id, "mira", gatelatch.Denied))
	}
	got := all(t, s, gatelatch.Query{})
	slices.Sort(got)
	if !slices.Equal(got, want) || len(all(t, s, gatelatch.Query{Pending: true})) != 0 {
		t.Errorf("settled: %v, want all of %v", got, want)
	}
}

func all(t *testing.T, s gatelatch.Store, q gatelatch.Query) (ids []string) {
	t.Helper()
	q.Limit = 4
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

func newest(t *testing.T, open Open) {
	s := fresh(t, open)
	var want []string
	for i := range 5 {
		for _, c := range create(t, s, waiting(fmt.Sprint("m", i), 2)).Calls {
			want = append([]string{c.ID}, want...)
		}
	}
	q := gatelatch.Query{Pending: true, Newest: true}
	if got := all(t, s, q); !slices.Equal(got, want) {
		t.Errorf("waiting: %v, want newest first %v", got, want)
	}
	must(t, decide(s, want[3], "mira", gatelatch.Denied))
	q.After = want[3] // a page may end with what is settled since
	if got := all(t, s, q); !slices.Equal(got, want[4:]) {
		t.Errorf("behind %s: %v, want %v", want[3], got, want[4:])
	}
}

package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

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

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
	"what is not over is found by its session":     live,
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

func opening(holder string) func(*gatelatch.Batch, time.Time) error {
	return func(b *gatelatch.Batch, at time.Time) error {
		return b.Open(gatelatch.Hold{Holder: holder, Consume: true}, agent, at)
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

func live(t *testing.T, open Open) {
	s := fresh(t, open)
	for _, m := range []string{"m1", "m2", "m3"} {
		create(t, s, waiting(m, 1))
	}
	create(t, s, func(at time.Time) *gatelatch.Batch { return newBatchIn("s2", "m4", 1, at) })
	must(t, change(s, "bat_m2", func(b *gatelatch.Batch, at time.Time) error { b.Withdraw(agent, "gone", at); return nil }))
	for _, m := range []string{"m5", "m6", "m7"} { // allowed, begun, done
		b := create(t, s, waiting(m, 1))
		must(t, decide(s, b.Calls[0].ID, "mira", gatelatch.Allowed))
	}
	begin := func(b *gatelatch.Batch, at time.Time) error {
		return b.Open(gatelatch.Hold{Holder: "h", Consume: true}, agent, at)
	}
	must(t, errors.Join(change(s, "bat_m6", begin), change(s, "bat_m7", begin)))
	must(t, change(s, "bat_m7", func(b *gatelatch.Batch, at time.Time) error { return b.Ran(b.Calls[0].ID, true, agent, at) }))
	must(t, change(s, "bat_m3", func(b *gatelatch.Batch, at time.Time) error { return b.Park(true, agent, at) }))
	for _, tt := range []struct {
		agent, session string
		limit          int
		want           []string
	}{
		{agent.ID, "s1", 10, []string{"bat_m1", "bat_m3", "bat_m5", "bat_m6"}},
		{agent.ID, "s1", 1, []string{"bat_m1"}},
		{agent.ID, "s2", 10, []string{"bat_m4"}},
		{"key_other", "s1", 10, nil},
	} {
		got := view(t, s, func(r gatelatch.Reader) ([]string, error) { return r.Live(tt.agent, tt.session, tt.limit) })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s of %s: %v, want %v", tt.session, tt.agent, got, tt.want)
		}
	}
	all := view(t, s, func(r gatelatch.Reader) (int, error) { return r.Waiting(agent.ID, "", 100) })
	some := view(t, s, func(r gatelatch.Reader) (int, error) { return r.Waiting(agent.ID, "", 2) })
	other := view(t, s, func(r gatelatch.Reader) (int, error) { return r.Waiting("key_other", "", 100) })
	session := view(t, s, func(r gatelatch.Reader) (int, error) { return r.Waiting(agent.ID, "s2", 100) })
	if all != 3 || some != 2 || other != 0 || session != 1 {
		t.Errorf("waiting: %d, at most two %d, another agent's %d, one session's %d", all, some, other, session)
	}
}

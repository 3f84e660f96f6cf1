package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

var aggregates = map[string]func(*testing.T, Open){
	"keys are found by hash":                     keys,
	"keys are listed by id, a page at a time":    keyLists,
	"grants are saved by comparing versions":     grants,
	"grants come newest first, and live if so":   grantLists,
	"work goes on where it stopped, and is done": works,
	"sessions come newest first":                 sessionLists,
	"revisions are kept, each once":              revisions,
	"control is kept":                            controlKept,
	"control is saved by comparing versions":     controlCAS,
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

func keyLists(t *testing.T, open Open) {
	s := fresh(t, open)
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	must(t, update(s, func(tx gatelatch.Tx) error {
		for _, id := range []string{"key_b", "key_a", "key_d", "key_C"} {
			if err := tx.SaveKey(&gatelatch.Key{ID: id, Kind: gatelatch.DecideKey, Given: gatelatch.AuditorRole, Hash: gatelatch.SumOf([]byte(id)), Expires: expires}); err != nil {
				return err
			}
		}
		return nil
	}))
	for after, want := range map[string]string{"": "key_C key_a", "key_a": "key_b key_d", "key_b": "key_d", "key_d": ""} {
		var got []string
		for _, k := range view(t, s, func(r gatelatch.Reader) ([]*gatelatch.Key, error) { return r.Keys(after, 2) }) {
			got = append(got, k.ID)
			if k.Role() != gatelatch.AuditorRole || !k.Expires.Equal(expires) || k.Version == 0 {
				t.Errorf("%s came back as %+v", k.ID, k)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("behind %q: %v, want %s", after, got, want)
		}
	}
	// A transaction sees its own.
	must(t, update(s, func(tx gatelatch.Tx) error {
		if err := tx.SaveKey(&gatelatch.Key{ID: "key_e", Hash: gatelatch.SumOf([]byte("e"))}); err != nil {
			return err
		}
		ks, err := tx.Keys("key_d", 10)
		if err == nil && len(ks) != 1 {
			err = fmt.Errorf("%d keys of its own", len(ks))
		}
		return err
	}))
}

func update(s gatelatch.Store, fn func(gatelatch.Tx) error) error {
	return s.Update(context.Background(), fn)
}

func grants(t *testing.T, open Open) {
	s := fresh(t, open)
	g := &gatelatch.Grant{ID: "grt_1", Match: "Bash(ls)", Scope: gatelatch.Always, Agent: agent.ID, At: time.Now()}
	must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveGrant(g) }))
	load := func() *gatelatch.Grant {
		return view(t, s, func(r gatelatch.Reader) (*gatelatch.Grant, error) { return r.Grant("grt_1") })
	}
	if err := update(s, func(tx gatelatch.Tx) error { return tx.SaveGrant(g) }); !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("made twice: %v", err)
	}
	one, two := load(), load()
	one.Revoke(person, time.Now())
	must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveGrant(one) }))
	two.Used++
	if err := update(s, func(tx gatelatch.Tx) error { return tx.SaveGrant(two) }); !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("a late writer undoes a revocation (REL-12): %v", err)
	}
	if g := load(); g.Revoked.IsZero() || g.RevokedBy.Name != "mira" || g.Match != "Bash(ls)" {
		t.Errorf("loaded %+v", g)
	}
	err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Grant("grt_2"); return err })
	if !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("no such grant: %v", err)
	}
}

func sessionLists(t *testing.T, open Open) {
	s := fresh(t, open)
	at := time.Now().UTC().Truncate(time.Microsecond)
	must(t, update(s, func(tx gatelatch.Tx) error {
		for i, id := range []string{"b", "c", "a"} {
			if err := tx.SaveSession(&gatelatch.Session{Agent: agent.ID, ID: id, Since: at.Add(time.Duration(i) * time.Second)}); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, update(s, func(tx gatelatch.Tx) error {
		old, err := tx.Session(agent.ID, "b")
		if err != nil {
			return err
		}
		old.Chosen = gatelatch.ModeChoice{Mode: gatelatch.ModePlan, By: person, At: at}
		return tx.SaveSession(old)
	}))
	for limit, want := range map[int]string{2: "ac", 10: "acb"} {
		got := ""
		for _, v := range view(t, s, func(r gatelatch.Reader) ([]*gatelatch.Session, error) { return r.Sessions(limit) }) {
			if got += v.ID; (v.Chosen.Mode == gatelatch.ModePlan) != (v.ID == "b") {
				t.Errorf("%s has mode %q", v.ID, v.Chosen.Mode)
			}
		}
		if got != want {
			t.Errorf("%d sessions: %s, want %s", limit, got, want)
		}
	}
}

func revisions(t *testing.T, open Open) {
	s := fresh(t, open)
	add := func(n int64, text string) error {
		return update(s, func(tx gatelatch.Tx) error {
			return tx.AddRevision(&gatelatch.Revision{Number: n, Text: text, By: person})
		})
	}
	must(t, add(1, "one"))
	must(t, add(2, "two <&>"))
	if err := add(2, "three"); !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("a number twice: %v", err)
	}
	for n, want := range map[int64]string{1: "one", 2: "two <&>"} {
		if v := view(t, s, func(r gatelatch.Reader) (*gatelatch.Revision, error) { return r.Revision(n) }); v.Text != want || v.By != person || v.Number != n {
			t.Errorf("revision %d is %+v", n, v)
		}
	}
	err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Revision(3); return err })
	if !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("no such revision: %v", err)
	}
}

func grantLists(t *testing.T, open Open) {
	s := fresh(t, open)
	begin := time.Now()
	for i := range 5 {
		g := &gatelatch.Grant{ID: fmt.Sprint("grt_", (i*3)%5), Scope: gatelatch.Always, At: begin.Add(time.Duration(i) * time.Second)}
		if i%2 == 1 {
			g.Revoke(person, begin)
		}
		must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveGrant(g) }))
	}
	list := func(live bool, limit int) (ids []string) {
		for _, g := range view(t, s, func(r gatelatch.Reader) ([]*gatelatch.Grant, error) { return r.Grants(live, limit) }) {
			ids = append(ids, g.ID)
		}
		return ids
	}
	if got, want := list(false, 10), []string{"grt_2", "grt_4", "grt_1", "grt_3", "grt_0"}; !slices.Equal(got, want) {
		t.Errorf("all: %v, want %v", got, want)
	}
	if got, want := list(true, 2), []string{"grt_2", "grt_1"}; !slices.Equal(got, want) {
		t.Errorf("live: %v, want %v", got, want)
	}
}

func works(t *testing.T, open Open) {
	s := fresh(t, open)
	begin := time.Now()
	for i, id := range []string{"wrk_b", "wrk_a"} {
		w := &gatelatch.Work{ID: id, Grant: "grt_1", At: begin.Add(time.Duration(i) * time.Second)}
		must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveWork(w) }))
	}
	list := func() []*gatelatch.Work {
		return view(t, s, func(r gatelatch.Reader) ([]*gatelatch.Work, error) { return r.Works(10) })
	}
	ws := list()
	if len(ws) != 2 || ws[0].ID != "wrk_b" || ws[0].Grant != "grt_1" || ws[0].Version == 0 {
		t.Fatalf("works %+v", ws)
	}
	old := *ws[0]
	ws[0].After = "cal_1"
	must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveWork(ws[0]) }))
	old.Done = true
	if err := update(s, func(tx gatelatch.Tx) error { return tx.SaveWork(&old) }); !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("done by who knew an older state: %v", err)
	}
	ws = list()
	if ws[0].After != "cal_1" {
		t.Errorf("goes on after %q", ws[0].After)
	}
	ws[0].Done = true
	must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveWork(ws[0]) }))
	if ws := list(); len(ws) != 1 || ws[0].ID != "wrk_a" {
		t.Errorf("left are %+v", ws)
	}
}

func control(t *testing.T, s gatelatch.Store) gatelatch.Control {
	t.Helper()
	return view(t, s, func(r gatelatch.Reader) (gatelatch.Control, error) { return r.Control() })
}

func controlKept(t *testing.T, open Open) {
	dir := t.TempDir()
	s := open(t, dir)
	must(t, update(s, func(tx gatelatch.Tx) error {
		c, err := tx.Control()
		if err != nil {
			return err
		}
		c.Pause, c.Epoch = gatelatch.Pause{On: true, Note: "stop", At: tx.Now()}, 7
		return tx.SaveControl(c)
	}))
	must(t, s.Close())
	s = open(t, dir)
	t.Cleanup(func() { _ = s.Close() })
	if c := control(t, s); !c.Pause.On || c.Pause.Note != "stop" || c.Epoch != 7 {
		t.Errorf("after restart %+v", c)
	}
}

func controlCAS(t *testing.T, open Open) {
	s := fresh(t, open)
	old := control(t, s)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			err := update(s, func(tx gatelatch.Tx) error {
				c, err := tx.Control()
				if err != nil {
					return err
				}
				c.Epoch++
				return tx.SaveControl(c)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c := control(t, s); c.Epoch != 16 {
		t.Errorf("epoch %d after 16 raised it: one was lost", c.Epoch)
	}
	if err := update(s, func(tx gatelatch.Tx) error { return tx.SaveControl(old) }); !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("saved over a newer one: %v", err)
	}
}

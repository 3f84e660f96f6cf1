package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/internal/redo"
)

// desk writes to a store, and remembers what was accepted.
type desk struct {
	*testing.T
	s    *Store
	mu   sync.Mutex
	told map[string]gatelatch.State // by batch
}

func (d *desk) propose(id string, size int) {
	b := asking(id, "", strings.Repeat("x", size))
	if err := save(d.s, b); err != nil {
		d.Error(err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told[b.ID] = gatelatch.Pending
}

func (d *desk) withdraw(id string) {
	if err := d.s.Update(d.Context(), func(tx gatelatch.Tx) error {
		b, err := tx.Batch(id)
		if err != nil {
			return err
		}
		b.Withdraw(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: b.Agent}, "", tx.Now())
		return tx.SaveBatch(b)
	}); err != nil {
		d.Error(err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told[id] = gatelatch.Withdrawn
}

// holds checks that a store has what was accepted, with its events.
func (d *desk) holds(s *Store) {
	d.Helper()
	if err := s.View(d.Context(), func(r gatelatch.Reader) error {
		for id, state := range d.told {
			b, err := r.Batch(id)
			if err != nil {
				return err
			}
			if b.Calls[0].State != state {
				d.Errorf("%s is %s, it was %s", id, b.Calls[0].State, state)
			}
		}
		var before gatelatch.Event
		for {
			es, err := r.Events(before.Seq, 1000)
			if err != nil || len(es) == 0 {
				return err
			}
			for _, e := range es {
				if e.Seq != before.Seq+1 || e.Prev != before.Link || audit.Link(e) != e.Link {
					d.Fatalf("event %d does not follow %d", e.Seq, before.Seq)
				}
				before = e
			}
		}
	}); err != nil {
		d.Error(err)
	}
}

// copyFiles copies those of a database that are there.
func copyFiles(t *testing.T, from, to string, endings ...string) {
	t.Helper()
	for _, end := range endings {
		raw, err := os.ReadFile(filepath.Join(from, "g.db"+end))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := errors.Join(err, os.WriteFile(filepath.Join(to, "g.db"+end), raw, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// REL-01: a power cut may cost the tables all that was not synced. What was
// accepted is there again, however old the tables on the disk are.
func TestNothingAcceptedIsLostWithTheTables(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(7, 7))
	d := &desk{T: t, s: open(t, dir, Options{}), told: map[string]gatelatch.State{}}
	defer d.s.Close()
	cuts, synced := 0, 0
	for round := range 20 {
		d.s.tables.Lock() // a copy of one moment
		old, kept := t.TempDir(), d.s.redo.Kept()
		copyFiles(t, dir, old, "", "-wal")
		d.s.tables.Unlock()
		var all sync.WaitGroup
		for i := range 1 + rng.IntN(12) {
			id, size, change, look := fmt.Sprintf("m%d-%d", round, i), rng.IntN(60_000), rng.IntN(3) == 0, rng.IntN(4) == 0
			all.Go(func() {
				d.propose(id, size)
				if look {
					d.holdsOne("bat_" + id)
				}
				if change {
					d.withdraw("bat_" + id)
				}
			})
		}
		all.Wait()
		if d.s.after.Wait(); d.s.redo.Kept() != kept {
			synced++ // the disk has more than the copy
			continue
		}
		copyFiles(t, dir, old, "-redo0", "-redo1")
		s := open(t, old, Options{Readers: 1})
		d.holds(s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		cuts++
	}
	d.holds(d.s)
	if t.Logf("%d power cuts, %d syncs between", cuts, synced); cuts < 8 || synced == 0 {
		t.Error("that shows little")
	}
}

// holdsOne checks that what was accepted is seen at once.
func (d *desk) holdsOne(id string) {
	if err := d.s.View(d.Context(), func(r gatelatch.Reader) error { _, err := r.Batch(id); return err }); err != nil {
		d.Errorf("what was just accepted is not seen: %v", err)
	}
}

// An older database that somebody put in place of the one that the log belongs to
// is not mended with half of what it lacks; and another's log says nothing.
func TestLogThatDoesNotFit(t *testing.T) {
	dir, old, other := t.TempDir(), t.TempDir(), t.TempDir()
	d := &desk{T: t, s: open(t, dir, Options{}), told: map[string]gatelatch.State{}}
	copyFiles(t, dir, old, "", "-wal")
	for i := range 150 { // more than the log holds
		d.propose(fmt.Sprint("m", i), 40_000)
	}
	d.s.after.Wait()
	copyFiles(t, dir, old, "-redo0", "-redo1")
	copyFiles(t, dir, other, "-redo0", "-redo1")
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(old, "g.db"), Options{}); !errors.Is(err, redo.ErrGap) || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("an older database: %v", err)
	}
	s := open(t, other, Options{})
	if err := s.View(t.Context(), func(r gatelatch.Reader) error {
		seq, err := r.LastSeq()
		if seq != 0 {
			t.Errorf("a new database has %d events of another", seq)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A copy of a database whose gateway was killed has what only the log knows.
func TestBackupAfterACrash(t *testing.T) {
	dir, dead := t.TempDir(), t.TempDir()
	s := open(t, dir, Options{})
	defer s.Close()
	copyFiles(t, dir, dead, "", "-wal")
	if err := save(s, pending("m1")); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, dir, dead, "-redo0", "-redo1")
	var out bytes.Buffer
	if err := BackupFile(t.Context(), filepath.Join(dead, "g.db"), &out); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte(`"table":"batch"`)); n != 1 {
		t.Errorf("%d batches in the copy, want 1", n)
	}
}

// After an orderly end there is one file, which has it all.
func TestCloseLeavesOneFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	if err := errors.Join(save(s, pending("m1")), s.Close()); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "g.db-*"))
	if err != nil || left != nil {
		t.Errorf("%v, %v were left", left, err)
	}
}

// The tables can fail when what they should have was accepted: nobody reads
// past it, nothing is lost, and it goes on when they can.
func TestTablesThatFailLater(t *testing.T) {
	d := &desk{T: t, s: open(t, t.TempDir(), Options{}), told: map[string]gatelatch.State{}}
	defer func() { _ = d.s.Close() }()
	if err := d.s.Update(t.Context(), func(tx gatelatch.Tx) error {
		return tx.SaveSession(&gatelatch.Session{Agent: "key_a", ID: "s", Since: time.Now()})
	}); err != nil {
		t.Fatal(err)
	}
	able := func(pragma string) {
		t.Helper()
		d.s.tables.Lock()
		defer d.s.tables.Unlock()
		if err := d.s.writes.do("PRAGMA query_only=" + pragma); err != nil {
			t.Fatal(err)
		}
	}
	d.propose("m1", 10)
	d.holds(d.s)
	able("1")
	d.propose("m2", 10) // is durable without them
	for range 2 {
		if err := d.s.View(t.Context(), func(gatelatch.Reader) error { return nil }); !errors.Is(err, gatelatch.ErrUnavailable) {
			t.Errorf("reading what is not up to date: %v", err)
		}
	}
	if err := d.s.Update(t.Context(), func(tx gatelatch.Tx) error { return tx.SaveGrant(&gatelatch.Grant{ID: "gra_1"}) }); !errors.Is(err, gatelatch.ErrUnavailable) {
		t.Errorf("changing what has to be looked at: %v", err)
	}
	d.propose("m3", 10)
	able("0")
	d.holds(d.s)
}

// Statements become a record and are the same again.
func FuzzRecord(f *testing.F) {
	f.Add("INSERT", "text", []byte("blob"), int64(-5), true)
	f.Fuzz(func(t *testing.T, text, s string, b []byte, n int64, yes bool) {
		all := []statement{{text: text, args: []any{s, b, n, yes, nil}}, {text: "x" + text, maybe: yes}, {text: text, args: []any{n}}}
		raw, err := encode(nil, all)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(raw)
		if err != nil || len(back) != len(all) {
			t.Fatalf("%d statements, %v", len(back), err)
		}
		for i, st := range back {
			if st.text != all[i].text || st.maybe != all[i].maybe || len(st.args) != len(all[i].args) {
				t.Fatalf("%+v became %+v", all[i], st)
			}
			for k, a := range st.args {
				if want, is := all[i].args[k].([]byte); is && !bytes.Equal(a.([]byte), want) || !is && a != all[i].args[k] {
					t.Fatalf("%v became %v", all[i].args[k], a)
				}
			}
		}
		for cut := range raw {
			if _, err := decode(raw[:cut]); err == nil {
				t.Fatalf("the first %d of %d bytes are a record, too", cut, len(raw))
			}
		}
		_, _ = decode(b) // whatever it is, nobody panics
	})
}

// What was put off is still refused where it must be: a message or a call id that
// is not new.
func TestNamesThatAreNotNew(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	defer func() { _ = s.Close() }()
	at := time.Now()
	session := func(tx gatelatch.Tx) error {
		return tx.SaveSession(&gatelatch.Session{Agent: "key_a", ID: "s", Since: at})
	}
	with := func(id, message, ref string) error {
		b := asking(message, ref, "ls")
		b.ID, b.Calls[0].ID = "bat_"+id, "cal_"+id
		return save(s, b)
	}
	if err := errors.Join(s.Update(context.Background(), session), with("1", "m1", "r1")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time by a process that does not know the session
		if err := with("2", "m1", "r2"); !errors.Is(err, gatelatch.ErrStale) {
			t.Errorf("a message twice: %v", err)
		}
		if err := with("3", "m3", "r1"); !errors.Is(err, gatelatch.ErrStale) {
			t.Errorf("a call id twice: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir, Options{})
	}
	if err := with("3", "m3", "r3"); err != nil {
		t.Errorf("a new one after it was refused: %v", err)
	}
}

// A session that is saved after its batches, as by a restored copy, is none that
// began here.
func TestNamesOfALateSession(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	defer func() { _ = s.Close() }()
	if err := errors.Join(save(s, asking("m1", "r1", "ls")), s.Update(t.Context(), func(tx gatelatch.Tx) error {
		return tx.SaveSession(&gatelatch.Session{Agent: "key_a", ID: "s", Since: time.Now()})
	})); err != nil {
		t.Fatal(err)
	}
	b := asking("m1", "r2", "ls")
	b.ID, b.Calls[0].ID = "bat_2", "cal_2"
	if err := save(s, b); !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("a message twice: %v", err)
	}
	if err := s.View(t.Context(), func(gatelatch.Reader) error { return nil }); err != nil {
		t.Error(err)
	}
}

// What the tables would refuse is refused before it is durable: nobody could
// read past it.
func TestWhatTheTablesRefuse(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	defer func() { _ = s.Close() }()
	if err := s.Update(t.Context(), func(tx gatelatch.Tx) error {
		return tx.SaveSession(&gatelatch.Session{Agent: "key_a", ID: "s", Since: time.Now()})
	}); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*gatelatch.Call){
		"no state":                  func(c *gatelatch.Call) { c.State = "" },
		"a state that nobody knows": func(c *gatelatch.Call) { c.State = "granted" },
		"settled by nobody":         func(c *gatelatch.Call) { c.State = gatelatch.Allowed },
	} {
		b := pending("m1")
		spoil(b.Calls[0])
		if err := save(s, b); err == nil {
			t.Errorf("%s was accepted", name)
		}
		if err := s.View(t.Context(), func(gatelatch.Reader) error { return nil }); err != nil {
			t.Errorf("after %s nobody can read: %v", name, err)
		}
	}
}

// A view that was held up before it began to read does not bring a key back
// that was changed meanwhile.
func TestKnownKeysWhileTheTablesLag(t *testing.T) {
	s := open(t, t.TempDir(), Options{Readers: 1})
	defer func() { _ = s.Close() }()
	key := gatelatch.Key{ID: "key_1", Kind: gatelatch.AskKey, Hash: gatelatch.SumOf([]byte("secret"))}
	saveKey := func() {
		t.Helper()
		if err := s.Update(t.Context(), func(tx gatelatch.Tx) error { return tx.SaveKey(&key) }); err != nil {
			t.Fatal(err)
		}
		key.Version++
	}
	saveKey()
	for range 20 {
		c := <-s.reads // whoever reads now waits for it
		var all sync.WaitGroup
		ready := make(chan struct{})
		all.Go(func() {
			close(ready)
			_ = s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.KeyByHash(key.Hash); return err })
		})
		<-ready
		saveKey()
		s.reads <- c
		all.Wait()
		if k, _, ok := s.KnownKey(key.Hash); ok && k.Version < key.Version {
			t.Fatalf("version %d is known after version %d was accepted", k.Version, key.Version)
		}
	}
}

package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/backup"
)

var copies = map[string]func(*testing.T, Open){
	"a copy revives nothing (REL-24)":            func(t *testing.T, open Open) { Copy(t, open, open) },
	"a copy is of one state, while writes go on": copyWhileWriting,
	"a copy that was changed or cut is refused":  damagedCopies,
	"only an empty store takes a copy":           copyIntoFull,
}

// copier is a store that can be copied.
type copier interface {
	Backup(ctx context.Context, w io.Writer) error
	Restore(ctx context.Context, r io.Reader) error
}

func copyOf(t *testing.T, s gatelatch.Store) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, asCopier(t, s).Backup(t.Context(), &out))
	return out.Bytes()
}

func restore(t *testing.T, s gatelatch.Store, file []byte) error {
	t.Helper()
	return asCopier(t, s).Restore(t.Context(), bytes.NewReader(file))
}

func asCopier(t *testing.T, s gatelatch.Store) copier {
	t.Helper()
	c, ok := s.(copier)
	if !ok {
		t.Fatalf("%T can't be copied", s)
	}
	return c
}

// fill leaves one of everything.
func fill(t *testing.T, s gatelatch.Store) {
	t.Helper()
	for _, m := range []string{"waits", "denied", "allowed", "begun", "done"} {
		create(t, s, waiting(m, 1))
	}
	must(t, decide(s, "cal_denied_0", "mira", gatelatch.Denied))
	for _, m := range []string{"allowed", "begun", "done"} {
		must(t, decide(s, "cal_"+m+"_0", "mira", gatelatch.Allowed))
	}
	must(t, change(s, "bat_begun", opening("h")))
	must(t, change(s, "bat_done", hold("h")))
	must(t, change(s, "bat_done", ran("cal_done_0", "result \x00")))
	must(t, update(s, func(tx gatelatch.Tx) error {
		var errs []error
		for _, kind := range []gatelatch.KeyKind{gatelatch.AskKey, gatelatch.DecideKey, gatelatch.BrowserKey} {
			errs = append(errs, tx.SaveKey(&gatelatch.Key{ID: "key_" + string(kind), Kind: kind, Hash: gatelatch.SumOf([]byte(kind))}))
		}
		c, err := tx.Control()
		c.Epoch = 7
		odd := gatelatch.Actor{Kind: gatelatch.PersonActor, Name: "a<\u2028"}
		return errors.Join(append(errs, err, tx.SaveControl(c), tx.Record(gatelatch.Event{Kind: gatelatch.GatePaused, By: odd, At: tx.Now()}),
			tx.SaveGrant(&gatelatch.Grant{ID: "grt_1", Scope: gatelatch.Always, At: tx.Now()}),
			tx.SaveWork(&gatelatch.Work{ID: "wrk_1", Grant: "grt_1", At: tx.Now()}),
			tx.AddRevision(&gatelatch.Revision{Number: 1, Text: "version: 1"}),
			tx.SaveSession(&gatelatch.Session{Agent: agent.ID, ID: "chosen", Chosen: gatelatch.ModeChoice{Mode: gatelatch.ModeBypass}}))...)
	}))
}

// Copy copies a store into another, and checks that the copy has everything and
// lets nothing through.
func Copy(t *testing.T, from, to Open) {
	old, s := fresh(t, from), fresh(t, to)
	fill(t, old)
	before := checkTrail(t, old)
	must(t, restore(t, s, copyOf(t, old)))

	states := map[string]gatelatch.State{
		"waits": gatelatch.Withdrawn, "denied": gatelatch.Denied, "allowed": gatelatch.Lapsed, "begun": gatelatch.Allowed, "done": gatelatch.Allowed,
	}
	for m, want := range states {
		b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.BatchOfRef(agent.ID, "s1", "ref_"+m+"_0") })
		was := view(t, old, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch(b.ID) })
		c := b.Calls[0]
		if c.State != want || c.Digest != was.Calls[0].Digest || string(c.Input) != string(was.Calls[0].Input) {
			t.Errorf("%s is %s, want %s", m, c.State, want)
		}
		if x := b.Index(); x.Permits || x.Over.IsZero() {
			t.Errorf("something may still happen to %s", m)
		}
	}
	b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_begun") })
	if o := b.Calls[0].Outcome; o == nil || o.Kind != gatelatch.Unknown {
		t.Errorf("what had begun came to %+v, want unknown", o)
	}
	if got := view(t, s, func(r gatelatch.Reader) ([]byte, error) { return r.Result(gatelatch.SumOf([]byte("result \x00"))) }); string(got) != "result \x00" {
		t.Errorf("result %q", got)
	}
	if n := len(all(t, s, gatelatch.Query{Pending: true})); n != 0 {
		t.Errorf("%d calls wait", n)
	}
	if n := len(all(t, s, gatelatch.Query{})); n != len(states) {
		t.Errorf("%d calls are settled, want %d", n, len(states))
	}
	checkRights(t, s)

	after := checkTrail(t, s)
	if !slices.Equal(after[:len(before)], before) || after[len(before)] != gatelatch.GateRestored {
		t.Errorf("the trail went on with %v", after[len(before):])
	}
	for _, kind := range []gatelatch.EventKind{gatelatch.CallWithdrawn, gatelatch.CallLapsed, gatelatch.CallReported, gatelatch.KeyRevoked, gatelatch.GrantRevoked} {
		if !slices.Contains(after[len(before):], kind) {
			t.Errorf("%s is not in the trail", kind)
		}
	}
	create(t, s, waiting("new", 1))
	must(t, decide(s, "cal_new_0", "mira", gatelatch.Allowed))
	if again := fresh(t, from); restore(t, again, copyOf(t, s)) != nil { // and back
		t.Error("a copy of the copy was refused")
	}
}

func checkRights(t *testing.T, s gatelatch.Store) {
	t.Helper()
	if c := control(t, s); c.Epoch <= 7 {
		t.Errorf("epoch %d is not a new one", c.Epoch)
	}
	if g := view(t, s, func(r gatelatch.Reader) (*gatelatch.Grant, error) { return r.Grant("grt_1") }); g.Good(g.At) {
		t.Error("a grant is good")
	}
	for kind, good := range map[gatelatch.KeyKind]bool{gatelatch.AskKey: true, gatelatch.DecideKey: true, gatelatch.BrowserKey: false} {
		k := view(t, s, func(r gatelatch.Reader) (*gatelatch.Key, error) { return r.KeyByHash(gatelatch.SumOf([]byte(kind))) })
		if k.Revoked.IsZero() != good {
			t.Errorf("key %s was revoked at %v", k.ID, k.Revoked)
		}
	}
	if c := view(t, s, func(r gatelatch.Reader) (*gatelatch.Session, error) { return r.Session(agent.ID, "chosen") }); c.ModeAt(time.Now()) != "" {
		t.Errorf("a session has mode %s", c.Chosen.Mode)
	}
	if rev := view(t, s, func(r gatelatch.Reader) (*gatelatch.Revision, error) { return r.Revision(1) }); rev.Text != "version: 1" {
		t.Errorf("the policy is %+v", rev)
	}
	if ws := view(t, s, func(r gatelatch.Reader) ([]*gatelatch.Work, error) { return r.Works(10) }); len(ws) != 0 {
		t.Errorf("work %v is left", ws)
	}
}

// busy is a file that is written slowly: with each part of it the store gets
// another batch, and forgets an old one.
type busy struct {
	bytes.Buffer
	t *testing.T
	s gatelatch.Store
	n int
}

func (w *busy) Write(p []byte) (int, error) {
	create(w.t, w.s, waiting(fmt.Sprint("new", w.n), 1))
	if w.n < 10 {
		must(w.t, update(w.s, func(tx gatelatch.Tx) error { return tx.Forget(fmt.Sprint("bat_old", w.n)) }))
	}
	w.n++
	return w.Buffer.Write(p)
}

func copyWhileWriting(t *testing.T, open Open) {
	old, s := fresh(t, open), fresh(t, open)
	var want []string
	for i := range 10 {
		b := create(t, old, func(at time.Time) *gatelatch.Batch {
			b := newBatch(fmt.Sprint("old", i), 1, at)
			b.Context.Said = string(bytes.Repeat([]byte{'x'}, 100_000))
			return b
		})
		want = append(want, b.Calls[0].ID)
	}
	w := &busy{t: t, s: old}
	must(t, asCopier(t, old).Backup(t.Context(), w))
	if w.n < 3 {
		t.Fatalf("the copy was written in %d parts", w.n)
	}
	must(t, restore(t, s, w.Bytes()))
	got := all(t, s, gatelatch.Query{})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the copy has %v, want what was there when it began: %v", got, want)
	}
	checkTrail(t, s)
}

func damagedCopies(t *testing.T, open Open) {
	old, s := fresh(t, open), fresh(t, open)
	fill(t, old)
	file := copyOf(t, old)
	last := bytes.LastIndexByte(file[:len(file)-1], '\n') + 1
	cases := map[string][]byte{
		"empty": {}, "without its end": file[:last], "cut": file[:len(file)/2], "with a tail": append(slices.Clone(file), "{}\n"...),
		"of another format": []byte("{\"format\":\"gatelatch.backup\",\"version\":99}\n"), "of something else": []byte("PK\x03\x04"),
	}
	lines := bytes.SplitAfter(file, []byte{'\n'})
	for i := range lines[:len(lines)-1] {
		cases[fmt.Sprint("without line ", i)] = bytes.Join(slices.Concat(lines[:i], lines[i+1:]), nil)
		flipped := slices.Clone(file)
		at := len(bytes.Join(lines[:i], nil)) + len(lines[i])*2/3
		flipped[at] ^= 1
		cases[fmt.Sprint("with a flipped bit in line ", i)] = flipped
		if i < len(lines)-2 {
			cases[fmt.Sprint("with a flipped bit in line ", i, ", summed up anew")] = resum(flipped, len(lines)-3)
		}
	}
	for name, file := range cases {
		if err := restore(t, s, file); err == nil {
			t.Fatalf("a copy %s was restored", name)
		}
	}
	if n := len(checkTrail(t, s)); n != 0 {
		t.Errorf("%d events are left of what was refused", n)
	}
	must(t, restore(t, s, resum(file, len(lines)-3)))
}

// resum gives a changed file an end that matches.
func resum(file []byte, rows int) []byte {
	body := file[:bytes.LastIndexByte(file[:len(file)-1], '\n')+1]
	return fmt.Appendf(slices.Clone(body), "{\"rows\":%d,\"sha256\":%q}\n", rows, gatelatch.SumOf(body))
}

func copyIntoFull(t *testing.T, open Open) {
	s := fresh(t, open)
	fill(t, s)
	before := checkTrail(t, s)
	if err := restore(t, s, copyOf(t, s)); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("restored over what is there: %v", err)
	}
	if got := checkTrail(t, s); !slices.Equal(got, before) {
		t.Error("the trail changed")
	}
}

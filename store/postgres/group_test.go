package postgres

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/writer"
)

// together commits changes in one transaction, as the writer does when they
// wait at once.
func together(t testing.TB, s *Store, work ...func(gatelatch.Tx) error) (errs []error) {
	t.Helper()
	var jobs []*writer.Job[*job]
	for _, fn := range work {
		w, err := s.draft(t.Context(), fn)
		must(t, err)
		jobs = append(jobs, &writer.Job[*job]{Work: &job{set: w}})
	}
	s.commit(jobs)
	for _, j := range jobs {
		errs = append(errs, j.Err)
	}
	return errs
}

func saving(b *gatelatch.Batch) func(gatelatch.Tx) error {
	return func(tx gatelatch.Tx) error { return tx.SaveBatch(b) }
}

func TestFailedStatementFailsItsOwnJobOnly(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	bad := func(w gatelatch.Tx) error {
		if err := w.SaveBatch(pending("bad")); err != nil {
			return err
		}
		w.(*tx).put(write{kind: putCall, id: "x", args: []any{
			raw("x"), "no such state", new(int64), raw(""), raw(""), raw(""), int64(0), raw(""), raw(""), raw(""), raw(""), int64(0),
		}})
		return nil
	}
	for _, errs := range [][]error{together(t, s, bad), together(t, s, saving(pending("m1")), bad, saving(pending("m2")))} {
		for i, err := range errs {
			if bad := len(errs) == 1 || i == 1; bad != (err != nil) {
				t.Errorf("job %d of %d: %v", i, len(errs), err)
			}
		}
	}
	if n := len(trail(t, s)); n != 4 {
		t.Errorf("%d events, want those of m1 and m2", n)
	}
}

// A caller that overlooks an error changes nothing.
func TestOverlookedErrorFailsTheChange(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	err := s.Update(t.Context(), func(w gatelatch.Tx) error {
		_ = w.(*tx).row("", `SELECT * FROM no_such_table`).scan()
		return w.SaveBatch(pending("m1"))
	})
	if n := len(trail(t, s)); err == nil || n != 0 {
		t.Errorf("%v, with %d events", err, n)
	}
}

// Whoever lost in a group runs again; the others are through.
func TestGroupGoesOnWithoutWhoLost(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	must(t, save(s, pending("m1")))
	old := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_m1") })
	must(t, decide(s, "cal_m1", "mira", gatelatch.Denied))
	late := func(tx gatelatch.Tx) error {
		old.Withdraw(agent, "", tx.Now())
		return tx.SaveBatch(old)
	}
	errs := together(t, s, saving(pending("m2")), late, saving(pending("m2")), saving(pending("m3")))
	for i, err := range errs {
		if lost := i == 1 || i == 2; raced(err) != lost || !lost && err != nil {
			t.Errorf("job %d: %v", i, err)
		}
	}
	if n := len(trail(t, s)); n != 7 {
		t.Errorf("%d events, want 7", n)
	}
}

// A change that reads what it wrote itself finds it, by whatever it looks for.
func TestChangeReadsWhatItWrote(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error {
		b := pending("m1")
		if err := tx.SaveBatch(b); err != nil {
			return err
		}
		if b, err := tx.BatchOfCall("cal_m1"); err != nil || b.Version != 1 || string(b.Calls[0].Input) != `{"command":"ls"}` {
			return fmt.Errorf("found %+v, %w", b, err)
		}
		g := &gatelatch.Grant{ID: "g", At: tx.Now()}
		for used := range 3 {
			g.Used = used
			if err := tx.SaveGrant(g); err != nil {
				return err
			}
			var err error
			if g, err = tx.Grant("g"); err != nil || g.Used != used || g.Version != int64(used)+1 {
				return fmt.Errorf("after %d saves %+v, %w", used+1, g, err)
			}
		}
		for range 2 {
			c, err := tx.Control()
			if err != nil {
				return err
			}
			c.Epoch++
			if err := tx.SaveControl(c); err != nil {
				return err
			}
			if gs, err := tx.Grants(true, 10); err != nil || len(gs) != 1 {
				return fmt.Errorf("%d grants: %w", len(gs), err)
			}
		}
		return nil
	}))
	c := view(t, s, func(r gatelatch.Reader) (gatelatch.Control, error) { return r.Control() })
	g := view(t, s, func(r gatelatch.Reader) (*gatelatch.Grant, error) { return r.Grant("g") })
	if c.Epoch != 2 || g.Used != 2 || g.Version != 3 {
		t.Errorf("epoch %d, grant %+v", c.Epoch, g)
	}
}

// Calls in one group may share an input that none of them has written yet, and
// one that another wants to be rid of.
func TestGroupSharesInputs(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	must(t, errors.Join(together(t, s, saving(pending("m1")), saving(pending("m2")))...))
	forget := func(tx gatelatch.Tx) error { return errors.Join(tx.Forget("bat_m1"), tx.Forget("bat_m2")) }
	must(t, errors.Join(together(t, s, forget, saving(pending("m3")))...))
	view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_m3") })
	trail(t, s)
}

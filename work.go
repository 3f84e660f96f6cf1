package gatelatch

import (
	"context"
	"errors"
	"time"
)

// atOnce is how many rows the gate's own work looks at in one go.
const atOnce = 100

// workDue does what grants that were made or revoked left to do, and reports
// whether there is more. Another gateway that does the same makes it lose and
// try again later, nothing else.
func (g *Gate) workDue(ctx context.Context) (more bool, err error) {
	var works []*Work
	err = g.store.View(ctx, func(r Reader) (err error) { works, err = r.Works(atOnce); return err })
	if len(works) > 0 {
		err = errors.Join(err, g.CatchUp(ctx))
	}
	for _, w := range works {
		if e := g.work(ctx, w); e != nil && !errors.Is(e, ErrStale) && !errors.Is(e, ErrNotFound) {
			err = errors.Join(err, e)
		}
	}
	return len(works) > 0, err
}

func (g *Gate) work(ctx context.Context, w *Work) (err error) {
	if w.Grant != "" {
		err = g.workGrant(ctx, w)
	} else {
		err = g.workMode(ctx, w)
	}
	if err != nil {
		return err
	}
	return g.store.Update(ctx, func(tx Tx) error {
		return g.saveWork(tx, w.ID, func(w *Work) { w.Done = true })
	})
}

func (g *Gate) workGrant(ctx context.Context, w *Work) error {
	var gr *Grant
	err := g.store.View(ctx, func(r Reader) (err error) { gr, err = r.Grant(w.Grant); return err })
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	case !gr.Revoked.IsZero():
		return g.takeBack(ctx, gr)
	}
	return g.judgeWaiting(ctx, w, cause{
		good:    gr.Good,
		reaches: gr.reaches,
		grants:  []*Grant{gr},
		allows:  func(v Verdict) bool { return v.Grant == gr.ID },
		charge:  func(tx Tx, s *Session) (bool, error) { return chargeOne(tx, s, gr.ID) },
	})
}

// workMode takes back what the old mode of a session allowed, and judges by
// the new one.
func (g *Gate) workMode(ctx context.Context, w *Work) error {
	err := g.eachPermit(ctx, func(tx Tx, b *Batch) error {
		if b.Agent != w.Agent || b.Session != w.Session {
			return nil
		}
		return revokeModes(tx, b)
	})
	if err != nil {
		return err
	}
	return g.judgeWaiting(ctx, w, cause{
		good:    func(time.Time) bool { return true },
		reaches: func(s *Session) bool { return s.Agent == w.Agent && s.ID == w.Session },
		allows:  func(v Verdict) bool { return v.Mode != "" },
		charge:  func(Tx, *Session) (bool, error) { return true, nil },
	})
}

// takeBack revokes what a revoked grant allowed and nobody consumed, one batch
// a transaction.
func (g *Gate) takeBack(ctx context.Context, gr *Grant) error {
	return g.eachPermit(ctx, func(tx Tx, b *Batch) error {
		b.RevokeGrant(gr.ID, *gr.RevokedBy, grantRevoked, tx.Now())
		return nil
	})
}

// eachPermit runs fn over every batch that allows something unconsumed.
func (g *Gate) eachPermit(ctx context.Context, fn func(Tx, *Batch) error) error {
	after := ""
	for {
		var ids []string
		err := g.store.View(ctx, func(r Reader) (err error) { ids, err = r.Permits(after, atOnce); return err })
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := g.change(ctx, id, fn); err != nil {
				return err
			}
		}
		after = ids[len(ids)-1]
	}
}

// change saves what fn does to a batch.
func (g *Gate) change(ctx context.Context, batchID string, fn func(Tx, *Batch) error) error {
	return g.store.Update(ctx, func(tx Tx) error {
		b, err := tx.Batch(batchID)
		if err != nil {
			return err
		}
		if err := fn(tx, b); err != nil {
			return err
		}
		return tx.SaveBatch(b)
	})
}

// A cause is why calls that wait are judged again: a new grant, or another mode.
type cause struct {
	good    func(now time.Time) bool // it may still allow something
	reaches func(*Session) bool
	grants  []*Grant
	allows  func(Verdict) bool // a verdict that allows is its own
	charge  func(Tx, *Session) (bool, error)
}

// judgeWaiting judges again what waits and the cause reaches, one call a
// transaction. It only ever settles what is pending.
func (g *Gate) judgeWaiting(ctx context.Context, w *Work, why cause) error {
	for {
		var p Page
		var now time.Time
		err := g.store.View(ctx, func(r Reader) (err error) {
			now = r.Now()
			p, err = r.List(Query{Pending: true, After: w.After, Limit: atOnce})
			return err
		})
		if err != nil {
			return err
		}
		for _, l := range p.Calls {
			if !why.good(now) {
				return nil
			}
			if l.Kind == Permission && why.reaches(l.Session) {
				if err := g.judgeAgain(ctx, w, why, l); err != nil {
					return err
				}
			}
			w.After = l.ID
		}
		if !p.More {
			return nil
		}
	}
}

func (g *Gate) judgeAgain(ctx context.Context, w *Work, why cause, l Listed) error {
	v := g.ask(ctx, l.Call, l.Session, why.grants).masked(l.Input)
	if v.Effect != Allow || !why.allows(v) {
		return nil
	}
	return g.store.Update(ctx, func(tx Tx) error {
		b, err := tx.Batch(l.Batch.ID)
		if err != nil {
			return err
		}
		ctl, err := tx.Control()
		if err != nil {
			return err
		}
		c := b.Call(l.ID)
		if !g.inForce(ctl) || ctl.Pause.On || c == nil || c.State != Pending || c.late(tx.Now()) || c.Digest != l.Digest {
			return nil
		}
		if ok, err := modeHolds(tx, b.Agent, b.Session, v); err != nil || !ok {
			return err
		}
		if ok, err := why.charge(tx, l.Session); err != nil || !ok {
			return err
		}
		if err := b.Judge(c, v, tx.Now()); err != nil {
			return err
		}
		if err := tx.SaveBatch(b); err != nil {
			return err
		}
		return g.saveWork(tx, w.ID, func(w *Work) { w.After = l.ID })
	})
}

// saveWork changes a piece of work. One that is gone was done by another
// gateway.
func (g *Gate) saveWork(tx Tx, workID string, fn func(*Work)) error {
	works, err := tx.Works(atOnce)
	for _, w := range works {
		if w.ID == workID {
			fn(w)
			return tx.SaveWork(w)
		}
	}
	return errors.Join(err, ErrStale)
}

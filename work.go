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
	for _, w := range works {
		if e := g.work(ctx, w); e != nil && !errors.Is(e, ErrStale) && !errors.Is(e, ErrNotFound) {
			err = errors.Join(err, e)
		}
	}
	return len(works) > 0, err
}

func (g *Gate) work(ctx context.Context, w *Work) error {
	var gr *Grant
	err := g.store.View(ctx, func(r Reader) (err error) { gr, err = r.Grant(w.Grant); return err })
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	case err != nil:
	case gr.Revoked.IsZero():
		err = g.judgeWaiting(ctx, w, gr)
	default:
		err = g.takeBack(ctx, gr)
	}
	if err != nil {
		return err
	}
	return g.store.Update(ctx, func(tx Tx) error {
		return g.saveWork(tx, w.ID, func(w *Work) { w.Done = true })
	})
}

// takeBack revokes what a revoked grant allowed and nobody consumed, one batch
// a transaction.
func (g *Gate) takeBack(ctx context.Context, gr *Grant) error {
	return g.eachPermit(ctx, func(tx Tx, b *Batch) {
		b.RevokeGrant(gr.ID, *gr.RevokedBy, grantRevoked, tx.Now())
	})
}

// eachPermit runs fn over every batch that allows something unconsumed.
func (g *Gate) eachPermit(ctx context.Context, fn func(Tx, *Batch)) error {
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
func (g *Gate) change(ctx context.Context, batchID string, fn func(Tx, *Batch)) error {
	return g.store.Update(ctx, func(tx Tx) error {
		b, err := tx.Batch(batchID)
		if err != nil {
			return err
		}
		fn(tx, b)
		return tx.SaveBatch(b)
	})
}

// judgeWaiting judges again what waits and the new grant reaches, one call a
// transaction. It only ever settles what is pending.
func (g *Gate) judgeWaiting(ctx context.Context, w *Work, gr *Grant) error {
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
			if !gr.Good(now) {
				return nil
			}
			if l.Kind == Permission && gr.reaches(l.Session) {
				if err := g.judgeAgain(ctx, w, gr, l); err != nil {
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

func (g *Gate) judgeAgain(ctx context.Context, w *Work, gr *Grant, l Listed) error {
	v := g.ask(ctx, l.Call, l.Session, []*Grant{gr})
	if v.Effect != Allow || v.Grant != gr.ID {
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
		if ctl.Pause.On || c == nil || c.State != Pending || c.late(tx.Now()) || c.Digest != l.Digest {
			return nil
		}
		ok, err := chargeOne(tx, l.Session, gr.ID)
		if err != nil || !ok {
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

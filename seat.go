package gatelatch

import (
	"context"
	"errors"
	"fmt"
)

// A Seat is the gate as one principal may use it. It implements Service.
type Seat struct {
	gate *Gate
	who  Actor
}

var (
	_ Service  = (*Seat)(nil)
	_ Approver = (*Seat)(nil)
)

func (s *Seat) is(kind ActorKind) error {
	if s.who.Kind != kind || s.who.ID == "" {
		return fmt.Errorf("only a %s may do this: %w", kind, ErrForbidden)
	}
	return nil
}

// Propose implements Service.
func (s *Seat) Propose(ctx context.Context, p Proposal) (*Batch, error) {
	if err := s.is(AgentActor); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	var known *Batch
	sess := &Session{Agent: s.who.ID, ID: p.Session.ID}
	err := s.gate.store.View(ctx, func(r Reader) (err error) {
		if known, err = s.known(r, &p); err != nil || known != nil {
			return err
		}
		if old, err := r.Session(s.who.ID, p.Session.ID); err == nil {
			sess = old
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var js []judged
	if known == nil {
		sess.describe(p.Session)
		for _, q := range p.Calls {
			js = append(js, s.gate.judge(ctx, q, sess))
		}
	}
	var out *Batch
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		b, err := s.known(tx, &p)
		if err != nil {
			return err
		}
		if b == nil {
			if js == nil {
				return ErrStale
			}
			if b, err = s.propose(tx, &p, js); err != nil {
				return err
			}
		}
		if p.Repeats {
			if err := b.Claim(p.Holder, s.who, tx.Now()); err != nil {
				return err
			}
		}
		if err := s.openIfReady(tx, b, p.Holder); err != nil {
			return err
		}
		out = b
		return tx.SaveBatch(b)
	})
	if err == nil && p.Limit > 0 {
		poke(s.gate.hub.sooner)
	}
	return out, err
}

// known returns the batch that p proposes again, or nil.
func (s *Seat) known(r Reader, p *Proposal) (*Batch, error) {
	b, err := r.BatchOfMessage(s.who.ID, p.Session.ID, p.Message)
	switch {
	case err == nil && !p.sameAs(b):
		return nil, ErrConflict
	case err == nil || !errors.Is(err, ErrNotFound):
		return b, err
	case !p.Repeats:
		return nil, nil
	}
	if b, err = r.BatchOfPair(s.who.ID, p.pair(), p.Holder); errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return b, err
}

func (s *Seat) propose(tx Tx, p *Proposal, js []judged) (*Batch, error) {
	sess, err := tx.Session(s.who.ID, p.Session.ID)
	if errors.Is(err, ErrNotFound) {
		sess, err = &Session{Agent: s.who.ID, ID: p.Session.ID, Since: tx.Now()}, nil
	}
	if err != nil {
		return nil, err
	}
	if sess.describe(p.Session) || sess.Version == 0 {
		if err := tx.SaveSession(sess); err != nil {
			return nil, err
		}
	}
	pause, err := tx.Pause()
	if err != nil {
		return nil, err
	}
	if pause.On {
		js = denyAll(js, pause)
	}
	return p.batch(s.who, js, tx.Now())
}

// openIfReady opens b for holder when nothing waits; a pause holds back an
// allow that nobody has taken yet.
func (s *Seat) openIfReady(tx Tx, b *Batch, holder string) error {
	if holder == "" || !b.Ready() {
		return nil
	}
	if b.Opened == nil {
		pause, err := tx.Pause()
		if err != nil {
			return err
		}
		if pause.On && b.allowsAny() {
			return ErrPaused
		}
	}
	return b.Open(holder, s.who, tx.Now())
}

func (b *Batch) allowsAny() bool {
	for _, c := range b.Calls {
		if c.State == Allowed {
			return true
		}
	}
	return false
}

// Await implements Service.
func (s *Seat) Await(ctx context.Context, batchID, holder string) (*Batch, error) {
	if holder == "" || len(holder) > maxHolder {
		return nil, invalid("awaiting a batch needs a holder of at most %d bytes", maxHolder)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wake := s.gate.hub.batch(ctx, batchID)
	for {
		// Read before writing: a write would wake the other waiters, and each
		// of them would write again.
		b, err := s.own(ctx, batchID)
		if err != nil {
			return nil, err
		}
		if b.Opened != nil && b.Opened.Holder == holder {
			return b, nil
		}
		if b.Ready() {
			return s.open(ctx, batchID, holder)
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (s *Seat) open(ctx context.Context, batchID, holder string) (out *Batch, err error) {
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if out, err = tx.Batch(batchID); err != nil {
			return err
		}
		if err := s.openIfReady(tx, out, holder); err != nil {
			return err
		}
		return tx.SaveBatch(out)
	})
	return out, err
}

// own returns a batch of this agent. Another agent's is not found, so that an
// id tells nothing.
func (s *Seat) own(ctx context.Context, id string) (b *Batch, err error) {
	if err := s.is(AgentActor); err != nil {
		return nil, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error {
		b, err = s.ownIn(r.Batch(id))
		return err
	})
	return b, err
}

func (s *Seat) ownIn(b *Batch, err error) (*Batch, error) {
	if err == nil && b.Agent != s.who.ID {
		return nil, fmt.Errorf("batch: %w", ErrNotFound)
	}
	return b, err
}

// Withdraw implements Service.
func (s *Seat) Withdraw(ctx context.Context, batchID, why string) error {
	if err := errors.Join(s.is(AgentActor), checkText("why", why, maxText)); err != nil {
		return err
	}
	return s.gate.store.Update(ctx, func(tx Tx) error {
		b, err := s.ownIn(tx.Batch(batchID))
		if err != nil {
			return err
		}
		if err := b.Withdraw(s.who, why, tx.Now()); err != nil {
			return err
		}
		return tx.SaveBatch(b)
	})
}

// Report implements Service.
func (s *Seat) Report(ctx context.Context, r Report) error {
	if err := s.is(AgentActor); err != nil {
		return err
	}
	return s.gate.store.Update(ctx, func(tx Tx) error {
		b, err := tx.BatchOfRef(s.who.ID, r.Session, r.Ref)
		if err != nil {
			return err
		}
		for _, c := range b.Calls {
			if c.Ref == r.Ref {
				if err := b.Report(c.ID, r.OK, s.who, tx.Now()); err != nil {
					return err
				}
			}
		}
		return tx.SaveBatch(b)
	})
}

// Batch implements Service.
func (s *Seat) Batch(ctx context.Context, id string) (b *Batch, err error) {
	if s.who.Kind != PersonActor {
		return s.own(ctx, id)
	}
	err = s.gate.store.View(ctx, func(r Reader) error { b, err = r.Batch(id); return err })
	return b, err
}

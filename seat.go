package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatelatch/gatelatch/internal/twin"
	"github.com/gatelatch/gatelatch/redact"
)

// A Seat is the gate as one principal may use it. It implements Service.
type Seat struct {
	gate *Gate
	who  Actor
}

var (
	_ Host     = (*Seat)(nil)
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
	p.Calls = slices.Clone(p.Calls)
	if err := s.gate.checkProposal(&p); err != nil {
		return nil, err
	}
	if err := s.gate.bulk.take(s.gate.Quota, s.who.ID, p.Session.ID, p.Calls); err != nil {
		return nil, err
	}
	leave, err := s.gate.rush.enter(ctx, s.who.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	p.mask()
	if on := s.surmise(&p); on != nil {
		if b, err := s.proposeOn(ctx, p, on); !errors.Is(err, ErrStale) {
			return b, err
		}
	}
	for try := 1; ; try++ {
		on, err := s.look(ctx, &p, try > 1)
		if err != nil {
			return nil, err
		}
		b, err := s.proposeOn(ctx, p, on)
		if try == proposeTries || !errors.Is(err, ErrStale) {
			return b, err
		}
	}
}

// proposeTries is how often a proposal begins anew that met another one with
// the same message or call id: it finds that one then.
const proposeTries = 3

// proposeOn judges and saves what p proposes, unless it is known. That it is
// new, the store checks in any case.
func (s *Seat) proposeOn(ctx context.Context, p Proposal, on *basis) (*Batch, error) {
	var js []judged
	switch {
	case on.known == nil:
		for _, q := range p.Calls {
			if on.parked != nil {
				q.Input = on.parked.Calls[0].Input // a person may have edited it
			}
			js = append(js, s.gate.judge(ctx, q, on.session, on.grants))
		}
	case p.Hold.Holder != "":
		if err := s.holds(ctx, on.known); err != nil {
			return nil, err
		}
	}
	var out *Batch
	err := s.gate.store.Update(ctx, func(tx Tx) error {
		b, err := s.knownIn(tx, &p, on.known)
		if err != nil {
			return err
		}
		if b == nil {
			b, err = s.propose(tx, &p, on, js)
		} else if b.Parked != nil {
			b.unpark(p.pair(), s.who, tx.Now())
		} else if p.Hold.Holder != "" {
			b.rejoin(s.who, tx.Now())
		}
		if err != nil {
			return err
		}
		if p.Repeats {
			b.suggest(p.Calls[0].Suggests, s.who, tx.Now())
			if err := b.Claim(p.Hold.Holder, s.who, tx.Now()); err != nil {
				return err
			}
		}
		if err := s.openIfReady(tx, b, p.Hold); err != nil {
			return err
		}
		out = b
		return tx.SaveBatch(b)
	})
	if err == nil {
		s.gate.hub.due(out.Index().Due)
	}
	if err == nil && s.gate.Grace > 0 && p.Hold.Holder != "" && !out.Ready() {
		s.gate.hub.expect(out.ID)
	}
	return out, err
}

// knownIn returns what was known before the transaction, as it is in it. Of a
// repetition another may have come between.
func (s *Seat) knownIn(tx Tx, p *Proposal, known *Batch) (*Batch, error) {
	switch {
	case p.Repeats:
		b, err := s.known(tx, p, false)
		if b == nil && err == nil && known != nil {
			err = ErrStale // it was not judged
		}
		return b, err
	case known == nil:
		return nil, nil
	}
	b, err := tx.Batch(known.ID)
	if errors.Is(err, ErrNotFound) {
		err = ErrStale
	}
	return b, err
}

// known returns the batch that p proposes again, or nil. A call id is asked
// about once (D9): under another message it must be the same batch.
func (s *Seat) known(r Reader, p *Proposal, refs bool) (*Batch, error) {
	b, err := r.BatchOfMessage(s.who.ID, p.Session.ID, p.Message)
	for i := 0; refs && errors.Is(err, ErrNotFound) && i < len(p.Calls); i++ {
		b, err = r.BatchOfRef(s.who.ID, p.Session.ID, p.Calls[i].Ref)
	}
	switch {
	case err == nil && !p.sameAs(b):
		return nil, fmt.Errorf("the message or call id was proposed with other calls: %w", ErrConflict)
	case err == nil || !errors.Is(err, ErrNotFound):
		return b, err
	case !p.Repeats:
		return nil, nil
	}
	// What has another id is another call, which p may take over.
	if b, err = s.pairOf(r, p); b != nil && p.Calls[0].Ref != "" && p.Calls[0].Ref != b.Calls[0].Ref {
		return nil, nil
	}
	return b, err
}

// pairOf returns the batch that a repetition finds without its id, or nil.
func (s *Seat) pairOf(r Reader, p *Proposal) (*Batch, error) {
	b, err := r.BatchOfPair(s.who.ID, p.pair(), p.Hold.Holder)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return b, err
}

func (s *Seat) propose(tx Tx, p *Proposal, on *basis, js []judged) (*Batch, error) {
	sess, err := tx.Session(s.who.ID, p.Session.ID)
	if errors.Is(err, ErrNotFound) {
		sess, err = &Session{Agent: s.who.ID, ID: p.Session.ID, Since: tx.Now()}, nil
	}
	if err != nil {
		return nil, err
	}
	ctl, err := tx.Control()
	switch {
	case err != nil:
		return nil, err
	case !on.holds(sess, ctl, tx.Now()):
		return nil, ErrStale
	}
	if sess.describe(p.Session) || sess.Version == 0 {
		if err := tx.SaveSession(sess); err != nil {
			return nil, err
		}
	}
	if sess.Halt != nil {
		js = heldBack(js)
	}
	was := js
	if js, err = inTx(tx, sess, js); err != nil {
		return nil, err
	}
	if on.surmised && s.gate.unbound(was, js) {
		return nil, ErrStale // the next try reads the disk before it holds a transaction
	}
	s.gate.bindNew(p.Calls, sess, was, js)
	b := p.empty(s.who, tx.Now())
	if on.parked == nil { // what asks again was counted
		if js, err = s.gate.ration(tx, b, p.Calls, js); err != nil {
			return nil, err
		}
	}
	err = b.propose(p.Calls, js, p.Limit, s.who, tx.Now())
	if err == nil && on.parked != nil {
		err = s.takeOver(tx, p, on.parked, b)
	}
	if err == nil && sess.Halt != nil {
		err = halted(tx, sess, b)
	}
	return b, err
}

// inTx returns verdicts as they hold in this transaction: a pause denies
// everything, and a grant that has ended allows nothing.
func inTx(tx Tx, sess *Session, js []judged) ([]judged, error) {
	ctl, err := tx.Control()
	switch {
	case err != nil:
		return nil, err
	case ctl.Pause.On:
		return denyAll(js, ctl.Pause), nil
	}
	return charge(tx, sess, js)
}

// openIfReady opens b when nothing waits. A pause holds back an allow that
// nobody has consumed, and what has ended meanwhile is taken back first.
func (s *Seat) openIfReady(tx Tx, b *Batch, h Hold) error {
	if h.Holder == "" || !b.Ready() {
		return nil
	}
	if b.Index().Permits {
		if err := s.unpaused(tx); err != nil {
			return err
		}
		if err := revokeEnded(tx, b); err != nil {
			return err
		}
	}
	b.Tick(tx.Now())
	return b.Open(h, s.who, tx.Now())
}

func (s *Seat) unpaused(tx Tx) error {
	ctl, err := tx.Control()
	if err == nil && ctl.Pause.On && twin.Is != "pause_ignored" {
		return ErrPaused
	}
	return err
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
	if err := checkText("why", why, maxText); err != nil {
		return err
	}
	_, err := s.update(ctx, batchID, func(tx Tx, b *Batch) error {
		b.Withdraw(s.who, redact.Text(why), tx.Now())
		return nil
	})
	return err
}

// update changes a batch of this agent.
func (s *Seat) update(ctx context.Context, batchID string, fn func(Tx, *Batch) error) (b *Batch, err error) {
	if err := s.is(AgentActor); err != nil {
		return nil, err
	}
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if b, err = s.ownIn(tx.Batch(batchID)); err != nil {
			return err
		}
		if err := fn(tx, b); err != nil {
			return err
		}
		return tx.SaveBatch(b)
	})
	return b, err
}

// Batch implements Service.
func (s *Seat) Batch(ctx context.Context, id string) (b *Batch, err error) {
	if s.who.Kind != PersonActor {
		return s.own(ctx, id)
	}
	err = s.gate.store.View(ctx, func(r Reader) error { b, err = r.Batch(id); return err })
	return b, err
}

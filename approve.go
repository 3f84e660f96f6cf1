package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/redact"
)

// Decide implements Approver.
func (s *Seat) Decide(ctx context.Context, callID string, d Decision) (out *Batch, err error) {
	if err := errors.Join(s.is(PersonActor), d.check(), d.mask()); err != nil {
		return nil, err
	}
	sess := &Session{}
	if d.Remember != nil {
		if sess, err = s.covered(ctx, callID, d); err != nil {
			return nil, err
		}
	}
	grantID := id.New("gra")
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if out, err = tx.BatchOfCall(callID); err != nil {
			return err
		}
		d := d
		d.By, d.At, d.Grant = s.who, tx.Now(), ""
		if d.Remember != nil {
			d.Grant = grantID
		}
		if d.State == Allowed {
			if err := s.unpaused(tx); err != nil {
				return err
			}
		}
		if err := out.Decide(callID, d); err != nil {
			return err
		}
		if len(out.Events()) > 0 && s.gate.unsigned(out.Call(callID), d) {
			return ErrUnsigned
		}
		if d.Mode != "" && len(out.Events()) > 0 {
			if err := s.chooseMode(tx, out.Agent, out.Session, d.Mode, d.Signed); err != nil {
				return err
			}
		}
		if d.Remember != nil && len(out.Events()) > 0 {
			if err := remember(tx, grantID, out, out.Call(callID), sess, d); err != nil {
				return err
			}
		}
		again := len(out.Events()) == 0
		if !again {
			if err := s.gate.rememberDenial(tx, out, d); err != nil {
				return err
			}
		}
		if err := tx.SaveBatch(out); err != nil || !d.Interrupt || again {
			return err
		}
		return interrupted(tx, out, d)
	})
	s.afterDecide(ctx, out, d, err)
	return out, err
}

// covered checks what is to be remembered against the call as it was shown.
// Policy may look at files, so it is asked before the transaction; that the
// call is still the same, the digest says.
func (s *Seat) covered(ctx context.Context, callID string, d Decision) (*Session, error) {
	l, err := s.Call(ctx, callID)
	if err != nil {
		return nil, err
	}
	switch {
	case l.State != Pending: // Decide says how it was settled, and nothing is made
		return l.Session, nil
	case l.Digest != d.Digest:
		return nil, fmt.Errorf("call %s: %w", callID, ErrChanged)
	}
	if err := s.gate.policy.Covers(d.Remember.Match, l.Call, l.Session, d.Remember.Scope); err != nil {
		return nil, invalid("%s can't be remembered: %v", d.Remember.Match, err)
	}
	return l.Session, nil
}

// afterDecide lets the gate do at once what the decision left to do. A decision
// that came too late found the call expired, which is then written down.
func (s *Seat) afterDecide(ctx context.Context, b *Batch, d Decision, err error) {
	var late *SettledError
	switch {
	case err == nil && (d.Remember != nil || d.Mode != ""):
		poke(s.gate.hub.sooner)
	case errors.As(err, &late) && late.Decided.State == Expired && b != nil:
		_ = s.gate.change(ctx, b.ID, tick)
	}
}

// Edit implements Approver.
func (s *Seat) Edit(ctx context.Context, callID string, from Sum, input []byte) (out *Batch, err error) {
	l, err := s.Call(ctx, callID)
	if err != nil {
		return nil, err
	}
	q := ProposedCall{Ref: l.Ref, Kind: l.Kind, Tool: l.Tool, Input: input, Dir: l.Dir, Claim: l.Claim}
	if err := s.gate.checkCall(&q); err != nil {
		return nil, err
	}
	j := s.gate.judge(ctx, q, l.Session, nil)
	if j.verdict.Effect == Allow { // it goes on waiting all the same
		j.bound = s.gate.bind(q.call(j.input), l.Session)
	}
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if out, err = tx.BatchOfCall(callID); err != nil {
			return err
		}
		if err := out.Edit(callID, from, j.input, j.verdict, j.bound, s.who, tx.Now()); err != nil {
			return err
		}
		return tx.SaveBatch(out)
	})
	return out, err
}

// Remember returns the matcher that an allow of a scope would remember, or why
// there is none.
func (s *Seat) Remember(l Listed, scope Scope) (string, error) {
	if l.Kind != Permission {
		return "", invalid("the answer to a %s is not remembered", l.Kind)
	}
	match, err := s.gate.policy.Remember(l.Call, l.Session, scope)
	if err == nil {
		err = rememberable(match)
	}
	return match, err
}

// Offers returns all that an allow of a scope could remember: what the policy
// has to offer, and of what the agent suggested, what the policy would remember.
func (s *Seat) Offers(l Listed, scope Scope) []Offer {
	if l.Kind != Permission {
		return nil
	}
	var out []Offer
	if p, ok := s.gate.policy.(Offering); ok {
		out = p.Offers(l.Call, l.Session, scope)
	}
	for _, match := range l.Suggests {
		known := slices.ContainsFunc(out, func(o Offer) bool { return o.Match == match })
		if !known && s.gate.policy.Covers(match, l.Call, l.Session, scope) == nil {
			out = append(out, Offer{Match: match})
		}
	}
	return slices.DeleteFunc(out, func(o Offer) bool { return redact.Has(o.Match) })
}

// Call returns one call with its batch and session, for people.
func (s *Seat) Call(ctx context.Context, id string) (l Listed, err error) {
	if err := s.is(PersonActor); err != nil {
		return Listed{}, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error {
		b, err := r.BatchOfCall(id)
		if err != nil {
			return err
		}
		sess, err := r.Session(b.Agent, b.Session)
		l = Listed{Call: b.Call(id), Batch: b, Session: sess}
		return err
	})
	return l, err
}

// List implements Approver.
func (s *Seat) List(ctx context.Context, q Query) (p Page, err error) {
	if err := s.is(PersonActor); err != nil {
		return Page{}, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error { p, err = r.List(q); return err })
	return p, err
}

// Events implements Approver.
func (s *Seat) Events(ctx context.Context, after Seq, limit int) (es []Event, err error) {
	if err := s.is(PersonActor); err != nil {
		return nil, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error { es, err = r.Events(after, limit); return err })
	return es, err
}

// Follow is Events that waits until there is at least one.
func (s *Seat) Follow(ctx context.Context, after Seq, limit int) ([]Event, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wake := s.gate.hub.grown(ctx)
	for {
		es, err := s.Events(ctx, after, limit)
		if err != nil || len(es) > 0 {
			return es, err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

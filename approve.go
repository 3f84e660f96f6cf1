package gatelatch

import (
	"context"
	"errors"
)

// Decide implements Approver.
func (s *Seat) Decide(ctx context.Context, callID string, d Decision) (out *Batch, err error) {
	if err := errors.Join(s.is(PersonActor), checkText("note", d.Note, maxText)); err != nil {
		return nil, err
	}
	for q, a := range d.Answers {
		if err := errors.Join(checkText("question", q, maxText), checkText("answer", a, maxText)); err != nil {
			return nil, err
		}
	}
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if out, err = tx.BatchOfCall(callID); err != nil {
			return err
		}
		pause, err := tx.Pause()
		if err != nil {
			return err
		}
		if pause.On && d.State == Allowed {
			return ErrPaused
		}
		d.By, d.At = s.who, tx.Now()
		if err := out.Decide(callID, d); err != nil {
			return err
		}
		return tx.SaveBatch(out)
	})
	return out, err
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

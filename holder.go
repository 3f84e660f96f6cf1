package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// MaxResult is the most bytes of one result. Written as JSON it may be six times
// that, and still has to fit into a request.
const MaxResult = 128 << 10

// Consume implements Holder.
func (s *Seat) Consume(ctx context.Context, t Take) (*Call, error) {
	known, err := s.own(ctx, t.Batch)
	if err == nil {
		err = s.holds(ctx, known)
	}
	if err != nil {
		return nil, err
	}
	var refused error
	b, err := s.update(ctx, t.Batch, func(tx Tx, b *Batch) error {
		if err := s.unpaused(tx); err != nil {
			return err
		}
		if err := revokeEnded(tx, b); err != nil {
			return err
		}
		// A call that was taken back just now is refused, and stays so: the
		// transaction goes on.
		if refused = b.Consume(t, s.who, tx.Now()); refused != nil && len(b.Events()) == 0 {
			return refused
		}
		return nil
	})
	switch {
	case err != nil: // then that it was taken back is not durable either
		return nil, err
	case refused != nil:
		return nil, refused
	}
	return b.Call(t.Call), nil
}

// Renew implements Holder.
func (s *Seat) Renew(ctx context.Context, batchID string, fence int64) error {
	_, err := s.update(ctx, batchID, func(tx Tx, b *Batch) error { return b.Renew(fence, s.who, tx.Now()) })
	return err
}

// Report implements Service.
func (s *Seat) Report(ctx context.Context, r Report) error {
	switch {
	case len(r.Result) > MaxResult:
		return invalid("the result has %d bytes, the most is %d", len(r.Result), MaxResult)
	case r.Batch == "":
		_, err := s.Ran(ctx, r)
		return err
	}
	s.gate.bulk.add(s.gate.Quota, s.who.ID, len(r.Result))
	var told ended
	_, err := s.update(ctx, r.Batch, func(tx Tx, b *Batch) (err error) {
		o := Outcome{Kind: Done, At: tx.Now(), Result: r.Result}
		if !r.OK {
			o.Kind = Failed
		}
		if err := b.Report(r.Call, r.Fence, o, s.who); err != nil {
			return err
		}
		told, err = s.gate.after.note(tx, b)
		return err
	})
	if err == nil {
		s.gate.after.tell(told)
	}
	return err
}

// Ran implements Host: it runs calls by itself and knows only its own ids.
func (s *Seat) Ran(ctx context.Context, r Report) (changed bool, err error) {
	if err := s.is(AgentActor); err != nil {
		return false, err
	}
	var told ended
	var unseen error
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		b, err := tx.BatchOfRef(s.who.ID, r.Session, r.Ref)
		if errors.Is(err, ErrNotFound) {
			unseen = err
			return noteUnseen(tx, s.who, s.who.ID, r.Session)
		}
		if err != nil {
			return err
		}
		for _, c := range b.Calls {
			if c.Ref == r.Ref {
				changed = c.State == Allowed && c.InputSum != c.Proposed
				if err := b.Ran(c.ID, r.OK, s.who, tx.Now()); err != nil {
					return err
				}
			}
		}
		if told, err = s.gate.after.note(tx, b); err != nil {
			return err
		}
		return tx.SaveBatch(b)
	})
	if err := errors.Join(err, unseen); err != nil {
		return false, err
	}
	s.gate.after.tell(told)
	return changed, nil
}

// noteUnseen notes, once for a session, that a call ran in it that nobody asked
// about: its hook may be gone or broken (SEC-33).
func noteUnseen(tx Tx, by Actor, agent, session string) error {
	sess, err := tx.Session(agent, session)
	if errors.Is(err, ErrNotFound) || err == nil && sess.Unseen {
		return nil
	} else if err != nil {
		return err
	}
	sess.Unseen, sess.UnseenAt = true, tx.Now()
	if err := tx.SaveSession(sess); err != nil {
		return err
	}
	return tx.Record(Event{Kind: CallUnseen, By: by, At: tx.Now(), Body: eventBody(struct {
		Session string `json:"session"`
	}{session})})
}

// Extend implements Holder. Extending by the same calls again is harmless.
func (s *Seat) Extend(ctx context.Context, batchID string, fence int64, calls []ProposedCall) (*Batch, error) {
	if err := s.is(AgentActor); err != nil {
		return nil, err
	}
	if len(calls) == 0 {
		return nil, invalid("a phase has at least one call")
	}
	calls = slices.Clone(calls)
	if err := s.gate.checkCalls(calls); err != nil {
		return nil, err
	}
	maskCalls(calls)
	if err := s.gate.bulk.take(s.gate.Quota, s.who.ID, batchID, calls); err != nil {
		return nil, err
	}
	var sess *Session
	var grants []*Grant
	err := s.gate.store.View(ctx, func(r Reader) error {
		b, err := s.ownIn(r.Batch(batchID))
		if err != nil {
			return err
		}
		if sess, err = r.Session(b.Agent, b.Session); err != nil {
			return err
		}
		grants, _, err = s.gate.grants(r, sess)
		return err
	})
	if err != nil {
		return nil, err
	}
	var js []judged
	for _, q := range calls {
		js = append(js, s.gate.judge(ctx, q, sess, grants))
	}
	return s.update(ctx, batchID, func(tx Tx, b *Batch) error {
		if b.Opened != nil && b.Opened.Fence == fence && b.Phase == b.Opened.Phase+1 && sameCalls(calls, b.phase(b.Phase)) {
			return nil
		}
		if len(b.Calls)+len(calls) > MaxCalls || b.size()+sizeOf(js) > s.gate.maxInputs() {
			return invalid("a batch has at most %d calls and %d bytes of inputs", MaxCalls, s.gate.maxInputs())
		}
		for _, q := range calls {
			switch known, err := tx.BatchOfRef(b.Agent, b.Session, q.Ref); {
			case err == nil:
				return fmt.Errorf("call %q is in batch %s: %w", q.Ref, known.ID, ErrConflict)
			case !errors.Is(err, ErrNotFound):
				return err
			}
		}
		ctl, err := tx.Control()
		switch {
		case err != nil:
			return err
		case !s.gate.inForce(ctl):
			return ErrStale
		}
		was := js
		js, err := inTx(tx, sess, js)
		if err == nil {
			js, err = s.gate.ration(tx, b, calls, js)
		}
		if err != nil {
			return err
		}
		s.gate.bindNew(calls, sess, was, js)
		if err := b.Extend(fence, s.who, tx.Now()); err != nil {
			return err
		}
		return b.propose(calls, js, 0, s.who, tx.Now())
	})
}

func (b *Batch) size() (n int) {
	for _, c := range b.Calls {
		n += len(c.Input)
	}
	return n
}

func sizeOf(js []judged) (n int) {
	for _, j := range js {
		n += len(j.input)
	}
	return n
}

// Finish implements Holder.
func (s *Seat) Finish(ctx context.Context, f Finish) ([]Result, error) {
	b, err := s.update(ctx, f.Batch, func(tx Tx, b *Batch) error { return b.Finish(f.Fence, f.Abandon, s.who, tx.Now()) })
	if err != nil {
		return nil, err
	}
	return s.Results(ctx, b.ID)
}

// Results implements Holder.
func (s *Seat) Results(ctx context.Context, batchID string) (out []Result, err error) {
	if err := s.is(AgentActor); err != nil {
		return nil, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error {
		b, err := s.ownIn(r.Batch(batchID))
		if err != nil {
			return err
		}
		for _, c := range b.Calls {
			res := Result{Call: c.ID, Ref: c.Ref, State: c.State, Output: []byte(c.Answer())}
			res.Interrupt = c.Decided != nil && c.Decided.Interrupt
			if o := c.Outcome; o != nil {
				res.Outcome = o.Kind
				if res.Output, err = output(r, o); err != nil {
					return err
				}
			}
			out = append(out, res)
		}
		return nil
	})
	return out, err
}

// UnknownResult is the text for the model when nobody reported how a call went.
const UnknownResult = "Nobody knows whether this ran: its result was lost. It is not run again by itself."

func output(r Reader, o *Outcome) ([]byte, error) {
	switch {
	case o.Kind == Unknown:
		return []byte(UnknownResult), nil
	case o.ResultSum == (Sum{}):
		return nil, nil
	}
	return r.Result(o.ResultSum)
}

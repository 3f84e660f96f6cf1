package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/internal/twin"
)

// A Parking says that nobody waits for the answer at present: the host went on
// with a denial that says "ask again", or ended until it is resumed. The calls
// still wait for a person.
type Parking struct {
	At time.Time `json:"at"`
	// Deferred says that the host itself comes back with the same call. It can
	// do that for one call of a session only.
	Deferred bool `json:"deferred,omitempty"`
}

// Park notes that nobody waits at present. What is settled already can be
// taken instead, which ErrSettled says.
func (b *Batch) Park(deferred bool, by Actor, at time.Time) error {
	switch {
	case b.Ready():
		return ErrSettled
	case len(b.Calls) != 1:
		return invalid("only a batch of one call is parked")
	case b.Parked != nil && b.Parked.Deferred == deferred:
		return nil
	}
	b.Parked, b.Claimed = &Parking{At: at, Deferred: deferred}, ""
	b.Pair = againSum(b.Session, b.Calls[0].Kind, b.Calls[0].Tool, b.Calls[0].Proposed, b.Calls[0].Dir)
	b.record(BatchParked, "", by, at, struct {
		Deferred bool `json:"deferred,omitempty"`
	}{deferred})
	return nil
}

// unpark notes that somebody waits again.
func (b *Batch) unpark(pair Sum, by Actor, at time.Time) {
	b.Parked, b.Pair = nil, pair
	b.record(BatchUnparked, "", by, at, struct{}{})
}

// fetched ends the parking: somebody came for the answer, and nobody else gets
// it.
func (b *Batch) fetched() {
	if b.Parked != nil {
		b.Parked, b.Pair = nil, Sum{}
	}
}

// againSum is what a call has in common with the same call asked again later in
// its session, under another id.
func againSum(session string, kind Kind, tool string, input Sum, dir string) Sum {
	if twin.Is == "parked_for_any" {
		return SumFields("gatelatch.again.v1", []byte(session))
	}
	return SumFields("gatelatch.again.v1", []byte(session), []byte(kind), []byte(tool), input[:], []byte(dir))
}

func (p *Proposal) again() Sum {
	c := p.Calls[0]
	return againSum(p.Session.ID, c.Kind, c.Tool, SumOf(c.Input), c.Dir)
}

// parked returns the batch that p asks for again, or nil.
func (s *Seat) parked(r Reader, p *Proposal, sess *Session) (*Batch, error) {
	if p.Repeats {
		// Its holder asked the same before, under another id. Nobody knows
		// whether that one still waits: only p does then.
		if b, err := s.pairOf(r, p); b != nil && b.Claimed == p.Hold.Holder || err != nil {
			return b, err
		}
	}
	if !sess.Parked || len(p.Calls) != 1 {
		return nil, nil
	}
	b, err := r.BatchOfPair(s.who.ID, p.again(), p.claimant())
	if errors.Is(err, ErrNotFound) || err == nil && b.Parked == nil {
		return nil, nil
	}
	return b, err
}

func (p *Proposal) claimant() string {
	if p.Hold.Holder != "" {
		return p.Hold.Holder
	}
	return p.Message
}

// takeOver lets b, the same call asked again, stand for the parked one: what a
// person decided about that holds for b, once, if rules still leave it to them.
func (s *Seat) takeOver(tx Tx, p *Proposal, parked, b *Batch) error {
	old, err := s.parked(tx, p, &Session{Parked: true})
	switch {
	case err != nil:
		return err
	case old == nil || old.ID != parked.ID || old.Calls[0].InputSum != parked.Calls[0].InputSum:
		return ErrStale
	}
	at, was, c := tx.Now(), old.Calls[0], b.Calls[0]
	old.Tick(at) // an allow that lapsed is none
	c.Edited = was.Edited
	b.record(BatchRepeated, "", s.who, at, struct {
		Of string `json:"of"`
	}{old.ID})
	if d := was.Decided; d != nil && d.By.Kind == PersonActor && c.State == Pending && (was.Digest == c.Digest || twin.Is == "parked_for_any") && (was.permit() || d.State == Denied) {
		b.move(c, CallDecided, Decision{
			State: d.State, By: d.By, At: at, Note: d.Note, Digest: c.Digest, Answers: d.Answers, Choice: d.Choice, Mode: d.Mode,
			Interrupt: d.Interrupt, Reply: d.Reply, Grant: d.Grant,
		})
	}
	if twin.Is == "parked_twice" {
		return nil
	}
	old.Claimed = "" // it is b's now, and nobody finds it a second time
	if err := old.Claim(b.ID, s.who, at); err != nil {
		return err
	}
	old.giveUp("asked again", s.who, at)
	old.fetched()
	return tx.SaveBatch(old)
}

// Park implements Host.
func (s *Seat) Park(ctx context.Context, batchID string, deferred bool) error {
	_, err := s.update(ctx, batchID, func(tx Tx, b *Batch) error {
		sess, err := tx.Session(b.Agent, b.Session)
		if err != nil {
			return err
		}
		if deferred && sess.Deferred != b.ID {
			switch open, err := deferral(tx, sess); {
			case err != nil:
				return err
			case open != nil:
				return fmt.Errorf("another call of the session is deferred: %w", ErrConflict)
			}
		}
		if err := b.Park(deferred, s.who, tx.Now()); err != nil {
			return err
		}
		if sess.Parked && (!deferred || sess.Deferred == b.ID) {
			return nil
		}
		if sess.Parked = true; deferred {
			sess.Deferred = b.ID
		}
		return tx.SaveSession(sess)
	})
	return err
}

// deferral returns the batch that the session's host will come back for, or nil.
func deferral(r Reader, sess *Session) (*Batch, error) {
	if sess.Deferred == "" {
		return nil, nil
	}
	b, err := r.Batch(sess.Deferred)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case b.Parked == nil || !b.Parked.Deferred || b.Opened != nil || b.Claimed != "": // it was taken, or taken over
		return nil, nil
	}
	return b, nil
}

// maxDeferrals is how many sessions are looked through for deferrals.
const maxDeferrals = 1000

// Deferrals returns what hosts will come back for, for people, whose process
// resumes them.
func (s *Seat) Deferrals(ctx context.Context) (out []Listed, err error) {
	if err := s.is(PersonActor); err != nil {
		return nil, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error {
		ss, err := r.Sessions(maxDeferrals)
		if err != nil {
			return err
		}
		for _, sess := range ss {
			b, err := deferral(r, sess)
			if err != nil {
				return err
			}
			if b != nil {
				out = append(out, Listed{Call: b.Calls[0], Batch: b, Session: sess})
			}
		}
		return nil
	})
	return out, err
}

package gatelatch

import (
	"context"
	"errors"

	"github.com/gatelatch/gatelatch/internal/twin"
	"github.com/gatelatch/gatelatch/redact"
)

// Leave implements Host.
func (s *Seat) Leave(ctx context.Context, l Leaving) (said string, err error) {
	if err := errors.Join(s.is(AgentActor), checkText("why", l.Why, maxText)); err != nil {
		return "", err
	}
	// Nearly always nothing is left, which is no reason to write.
	var left bool
	err = s.gate.store.View(ctx, func(r Reader) error {
		sess, err := r.Session(s.who.ID, l.Session)
		if errors.Is(err, ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		some, err := r.Live(s.who.ID, l.Session, 1)
		left = len(some) > 0 || l.Prompt && (sess.Owed != "" || sess.Halt != nil)
		return err
	})
	if err != nil || !left {
		return "", err
	}
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if said, err = owed(tx, s.who.ID, l); err != nil {
			return err
		}
		return eachLive(tx, s.who.ID, l.Session, func(b *Batch) {
			if l.All || b.Subagent == l.Subagent {
				b.Withdraw(s.who, redact.Text(l.Why), tx.Now())
			}
		})
	})
	return said, err
}

// owed takes what is to be said with a new prompt.
func owed(tx Tx, agent string, l Leaving) (said string, err error) {
	if !l.Prompt {
		return "", nil
	}
	sess, err := tx.Session(agent, l.Session)
	if err != nil || sess.Owed == "" && sess.Halt == nil {
		return "", err
	}
	said, sess.Owed, sess.Halt = sess.Owed, "", nil // a new turn is not the one that was to end
	return said, tx.SaveSession(sess)
}

// maxLive is how many batches of a session end at once.
const maxLive = 1000

// eachLive changes the batches of a session that are not over and not parked.
func eachLive(tx Tx, agent, session string, fn func(*Batch)) error {
	ids, err := tx.Live(agent, session, maxLive)
	if err != nil {
		return err
	}
	for _, id := range ids {
		b, err := tx.Batch(id)
		if err != nil {
			return err
		}
		if b.Parked != nil {
			continue
		}
		fn(b)
		if err := tx.SaveBatch(b); err != nil {
			return err
		}
	}
	return nil
}

// interrupted ends the turn of which a person denied one call and said stop: a
// host that asks for each call by itself would go on with the others.
func interrupted(tx Tx, b *Batch, d Decision) error {
	if b.Turn == "" || twin.Is == "interrupt_ends_one" {
		return nil
	}
	if d.Note != "" {
		sess, err := tx.Session(b.Agent, b.Session)
		if err != nil {
			return err
		}
		sess.Owed = d.Note
		if err := tx.SaveSession(sess); err != nil {
			return err
		}
	}
	return eachLive(tx, b.Agent, b.Session, func(other *Batch) {
		if other.ID == b.ID || other.Turn != b.Turn || other.Subagent != b.Subagent {
			return
		}
		for _, c := range other.Calls {
			if c.State == Pending && !c.late(d.At) {
				d.Digest = c.Digest
				other.move(c, CallDecided, d)
			}
		}
	})
}

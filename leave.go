package gatelatch

import "context"

// Leave implements Host.
func (s *Seat) Leave(ctx context.Context, l Leaving) error {
	if err := s.is(AgentActor); err != nil {
		return err
	}
	if err := checkText("why", l.Why, maxText); err != nil {
		return err
	}
	// Nearly always nothing is left, which is no reason to write.
	var some []string
	err := s.gate.store.View(ctx, func(r Reader) (err error) {
		some, err = r.Live(s.who.ID, l.Session, 1)
		return err
	})
	if err != nil || len(some) == 0 {
		return err
	}
	return s.gate.store.Update(ctx, func(tx Tx) error {
		return eachLive(tx, s.who.ID, l.Session, func(b *Batch) {
			if l.All || b.Subagent == l.Subagent {
				b.Withdraw(s.who, l.Why, tx.Now())
			}
		})
	})
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
	if b.Turn == "" {
		return nil
	}
	return eachLive(tx, b.Agent, b.Session, func(other *Batch) {
		if other.ID == b.ID || other.Turn != b.Turn || other.Subagent != b.Subagent {
			return
		}
		for _, c := range other.Calls {
			if c.State == Pending {
				d.Digest = c.Digest
				other.move(c, CallDecided, d)
			}
		}
	})
}

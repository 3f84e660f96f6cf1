package gatelatch

import (
	"context"
	"slices"
)

// byRule reports whether a rule allowed the call, and nobody has consumed that.
func byRule(c *Call) bool {
	return c.permit() && c.Decided.By.Kind == PolicyActor && c.Decided.Grant == ""
}

// rulesHold takes back what rules allowed, nobody has consumed, and the rules
// of now allow no more. b is the batch as it was just read. Policies that
// change say so by a HashFor.
func (s *Seat) rulesHold(ctx context.Context, b *Batch) error {
	rules, changes := s.gate.policy.(interface{ HashFor(*Session) string })
	if !changes {
		return nil
	}
	if err := s.gate.CatchUp(ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(b.Calls, byRule) {
		return nil
	}
	var sess *Session
	err := s.gate.store.View(ctx, func(r Reader) (err error) { sess, err = r.Session(b.Agent, b.Session); return err })
	if err != nil {
		return err
	}
	hash := rules.HashFor(sess)
	old := slices.DeleteFunc(slices.Clone(b.Calls), func(c *Call) bool { return !byRule(c) || c.Verdict.Policy == hash })
	var ended []*Call
	for _, c := range old {
		if s.gate.ask(ctx, c, sess, nil).Effect != Allow {
			ended = append(ended, c)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	return s.gate.change(ctx, b.ID, func(tx Tx, b *Batch) error {
		for _, was := range ended {
			if c := b.Call(was.ID); c != nil && c.permit() && c.Digest == was.Digest {
				b.move(c, CallRevoked, Decision{State: Revoked, By: Actor{Kind: PolicyActor}, At: tx.Now(), Note: "the rules no longer allow it", Digest: c.Digest})
			}
		}
		return nil
	})
}

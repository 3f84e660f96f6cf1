package gatelatch

import (
	"context"
	"errors"
)

// Explain judges a call anew, by the rules of now and by what is remembered
// for its session now. Nothing comes of it.
func (s *Seat) Explain(ctx context.Context, callID string) (l Listed, v Verdict, err error) {
	if l, err = s.Call(ctx, callID); err != nil {
		return l, v, err
	}
	var grants []*Grant
	err = s.gate.store.View(ctx, func(r Reader) error {
		grants, _, err = s.gate.grants(r, l.Session)
		return err
	})
	if err != nil {
		return l, v, err
	}
	v = s.gate.ask(ctx, l.Call, l.Session, grants)
	if l.Kind != Permission && v.Effect == Allow {
		v.Effect, v.Grant = Ask, ""
	}
	return l, v, nil
}

// Suppose judges a call that nobody makes. What is remembered does not count.
func (s *Seat) Suppose(ctx context.Context, c *Call, sess *Session) (Verdict, error) {
	if err := s.is(PersonActor); err != nil {
		return Verdict{}, err
	}
	if err := s.gate.CatchUp(ctx); err != nil {
		return Verdict{}, err
	}
	return s.gate.ask(ctx, c, sess, nil), nil
}

// Covers checks a matcher for a call as deciding does.
func (s *Seat) Covers(l Listed, match string, scope Scope) error {
	if l.Kind != Permission {
		return invalid("the answer to a %s is not remembered", l.Kind)
	}
	return errors.Join(rememberable(match), s.gate.policy.Covers(match, l.Call, l.Session, scope))
}

// NotePolicy notes that a person changed the rules in the file that this gate
// judges by: the trail says who. It fails if another revision is in force.
func (s *Seat) NotePolicy(ctx context.Context, from int64, text, note string) (*Revision, error) {
	if err := s.is(PersonActor); err != nil {
		return nil, err
	}
	return s.gate.revise(ctx, from, Revision{Text: text, By: s.who, Note: note})
}

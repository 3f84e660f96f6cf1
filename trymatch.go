package gatelatch

import "context"

// tried is how many of the latest settled calls a matcher is tried on.
const tried = 200

// A Trial is what a matcher would have allowed of the calls that were settled
// last.
type Trial struct {
	Of      int      // calls that it was tried on
	Matches []Listed // those that it would have allowed, the newest first
}

// TryMatch says what remembering a matcher would do, without doing it: an
// error says why it can't be remembered.
func (s *Seat) TryMatch(ctx context.Context, callID, match string, scope Scope) (t Trial, err error) {
	l, err := s.Call(ctx, callID)
	if err != nil {
		return t, err
	}
	if l.Kind != Permission {
		return t, invalid("the answer to a %s is not remembered", l.Kind)
	}
	if err := s.gate.policy.Covers(match, l.Call, l.Session, scope); err != nil {
		return t, invalid("%v", err)
	}
	page, err := s.List(ctx, Query{Limit: tried})
	if err != nil {
		return t, err
	}
	grant := &Grant{ID: "trial", Match: match, Scope: scope, Agent: l.Session.Agent}
	if scope != Always {
		grant.Project = l.Session.Project
	}
	if scope == ForSession {
		grant.Session = l.Session.ID
	}
	for _, old := range page.Calls {
		if old.Kind != Permission || !grant.reaches(old.Session) {
			continue
		}
		t.Of++
		if v := s.gate.ask(ctx, old.Call, old.Session, []*Grant{grant}); v.Grant == grant.ID {
			t.Matches = append(t.Matches, old)
		}
	}
	return t, ctx.Err()
}

// RulesMode returns the mode that the rules give a session for which nobody
// chose one, and where that is written.
func (s *Seat) RulesMode(sess *Session) (mode Mode, source string) {
	if p, ok := s.gate.policy.(Moding); ok {
		return p.ModeOf(sess)
	}
	return ModeDefault, ""
}

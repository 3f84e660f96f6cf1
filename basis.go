package gatelatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A basis is what verdicts rest on beside the call: the session, and the grants
// that reach it.
type basis struct {
	session *Session
	grants  []*Grant
	all     []*Grant // of the epoch
	epoch   int64
	rules   int64 // the revision of a shared policy
	// known is the batch that was proposed before.
	known *Batch
	// parked is the batch that asked for the same before.
	parked *Batch
	// surmised says that nobody looked: it is what the gate knew from before,
	// and holds only if the transaction finds it so.
	surmised bool
}

// surmise returns the basis without reading anything, or nil. Nearly always a
// proposal is new and its session as it was; where not, the transaction says
// so and the next try looks.
func (s *Seat) surmise(p *Proposal) *basis {
	if p.Repeats || len(s.gate.hooks) > 0 { // a hook may act: it does not run for nothing
		return nil
	}
	sess := s.gate.sessions.get(s.who.ID, p.Session.ID)
	if sess == nil || sess.Parked {
		return nil
	}
	sess.describe(p.Session)
	epoch, all := s.gate.ledger.last()
	return &basis{session: sess, rules: s.gate.revision(), grants: reaching(all, sess, time.Now()), all: all, epoch: epoch, surmised: true}
}

// look reads the basis. refs says to look for the call ids too.
func (s *Seat) look(ctx context.Context, p *Proposal, refs bool) (*basis, error) {
	b := &basis{session: &Session{Agent: s.who.ID, ID: p.Session.ID}}
	err := s.gate.store.View(ctx, func(r Reader) (err error) {
		if b.known, err = s.known(r, p, refs); err != nil || b.known != nil {
			return err
		}
		if old, err := r.Session(s.who.ID, p.Session.ID); err == nil {
			b.session = old
			s.gate.sessions.put(*old)
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		b.session.describe(p.Session)
		if b.parked, err = s.parked(r, p, b.session); err != nil {
			return err
		}
		b.grants, b.epoch, err = s.gate.grants(r, b.session)
		b.rules = s.gate.revision()
		return err
	})
	return b, err
}

// holds reports whether the rules are those in force, and whether what was
// surmised is so, in a transaction.
func (b *basis) holds(sess *Session, ctl Control, now time.Time) bool {
	if b.rules >= 0 && b.rules != ctl.Revision {
		return false
	}
	return !b.surmised || b.session.Version == sess.Version && b.epoch == ctl.Epoch &&
		slices.Equal(b.grants, reaching(b.all, b.session, now))
}

// sessions remembers some that were read.
type sessions struct {
	mu    sync.Mutex
	known map[[2]string]Session
}

const mostSessions = 1024

func (s *sessions) get(agent, id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[[2]string{agent, id}]; ok {
		return &known
	}
	return nil
}

func (s *sessions) put(sess Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= mostSessions {
		s.known = map[[2]string]Session{}
	}
	s.known[[2]string{sess.Agent, sess.ID}] = sess
}

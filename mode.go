package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch/internal/id"
)

// Mode is how much of a session's work is asked about. No mode weakens a rule
// that denies or asks, or the protection of a path.
type Mode string

// Modes, from the strictest.
const (
	ModePlan        Mode = "plan"              // what does not only read is asked
	ModeDefault     Mode = "default"           // as the rules say
	ModeAcceptEdits Mode = "acceptEdits"       // edits inside the project are allowed
	ModeBypass      Mode = "bypassPermissions" // what no rule speaks about is allowed
)

// Modes lists them from the strictest.
func Modes() []Mode { return []Mode{ModePlan, ModeDefault, ModeAcceptEdits, ModeBypass} }

// ParseMode reads the word for a mode.
func ParseMode(word string) (Mode, error) {
	if m := Mode(word); slices.Contains(Modes(), m) {
		return m, nil
	}
	return "", fmt.Errorf("mode %.40q is none of plan, default, acceptEdits, bypassPermissions", word)
}

// A ModeChoice is a person's choice of mode for one session. What an agent says
// about its own mode is none.
type ModeChoice struct {
	Mode  Mode      `json:"mode"`
	Until time.Time `json:"until,omitzero"` // zero is for as long as the session
	By    Actor     `json:"by"`
	At    time.Time `json:"at"`
}

// ModeAt returns the mode that a person chose and that still holds, or "".
func (s *Session) ModeAt(t time.Time) Mode {
	if !s.Chosen.Until.IsZero() && !t.Before(s.Chosen.Until) {
		return ""
	}
	return s.Chosen.Mode
}

// ModeTerms are what a person wants a session's mode to be.
type ModeTerms struct {
	Mode   Mode
	For    time.Duration // 0 is for as long as the session
	Signed *Signature    // the person's passkey's word for it, checked by who hands it on
}

// longestBypass is how long everything may go unasked before somebody has to
// say so again.
const longestBypass = 24 * time.Hour

func (m ModeTerms) check() error {
	if _, err := ParseMode(string(m.Mode)); err != nil {
		return invalid("%v", err)
	}
	switch {
	case m.For < 0:
		return invalid("a mode can't hold for less than nothing")
	case m.Mode == ModeBypass && (m.For == 0 || m.For > longestBypass):
		return invalid("%s needs a time of at most %s", ModeBypass, longestBypass)
	}
	return nil
}

// SetMode implements Approver.
func (s *Seat) SetMode(ctx context.Context, agent, session string, m ModeTerms) (sess *Session, err error) {
	if err := errors.Join(s.is(PersonActor), m.check()); err != nil {
		return nil, err
	}
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if sess, err = tx.Session(agent, session); err != nil {
			return err
		}
		return s.choose(tx, sess, m)
	})
	if err == nil {
		poke(s.gate.hub.sooner)
	}
	return sess, err
}

func (s *Seat) choose(tx Tx, sess *Session, m ModeTerms) error {
	next := ModeChoice{Mode: m.Mode, By: s.who, At: tx.Now()}
	if m.For > 0 {
		next.Until = tx.Now().Add(m.For)
	}
	if s.gate.Signs != nil && m.Signed == nil && s.gate.loosens(sess, next) {
		return ErrUnsigned
	}
	sess.Chosen = next
	if err := tx.SaveSession(sess); err != nil {
		return err
	}
	return modeChosen(tx, sess, m.Signed)
}

// chooseMode is for a decision that comes with a mode.
func (s *Seat) chooseMode(tx Tx, agent, session string, m Mode, signed *Signature) error {
	sess, err := tx.Session(agent, session)
	if err != nil {
		return err
	}
	return s.choose(tx, sess, ModeTerms{Mode: m, Signed: signed})
}

// FollowMode is for the agent of a session: it waits until the mode that a
// person chose for it is another than known, and returns that. "" is none.
func (s *Seat) FollowMode(ctx context.Context, session string, known Mode) (Mode, error) {
	if err := s.is(AgentActor); err != nil {
		return known, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wake := s.gate.hub.grown(ctx)
	for {
		m, until, err := s.modeOf(ctx, session)
		if err != nil || m != known {
			return m, err
		}
		select {
		case <-wake:
		case <-until:
		case <-ctx.Done():
			return known, context.Cause(ctx)
		}
	}
}

// modeOf returns a session's mode, and what rings when its time is over. A
// session that has not asked yet has none.
func (s *Seat) modeOf(ctx context.Context, session string) (m Mode, over <-chan time.Time, err error) {
	err = s.gate.store.View(ctx, func(r Reader) error {
		sess, err := r.Session(s.who.ID, session)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		if m = sess.ModeAt(r.Now()); m != "" && !sess.Chosen.Until.IsZero() {
			over = time.After(sess.Chosen.Until.Sub(r.Now()))
		}
		return nil
	})
	return m, over, err
}

// modeChosen begins a new epoch, so that no verdict of the old mode is saved
// any more, and the work of judging again what waits.
func modeChosen(tx Tx, s *Session, signed *Signature) error {
	if err := nextEpoch(tx); err != nil {
		return err
	}
	if err := tx.SaveWork(&Work{ID: id.New("wrk"), Agent: s.Agent, Session: s.ID, At: tx.Now()}); err != nil {
		return err
	}
	return tx.Record(Event{Kind: ModeChosen, By: s.Chosen.By, At: tx.Now(), Body: eventBody(struct {
		Agent   string     `json:"agent"`
		Session string     `json:"session"`
		Mode    Mode       `json:"mode"`
		Until   time.Time  `json:"until,omitzero"`
		Signed  *Signature `json:"signed,omitempty"`
	}{s.Agent, s.ID, s.Chosen.Mode, s.Chosen.Until, signed})})
}

// Sessions implements Approver.
func (s *Seat) Sessions(ctx context.Context, limit int) (out []*Session, err error) {
	if err := s.is(PersonActor); err != nil {
		return nil, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error { out, err = r.Sessions(limit); return err })
	return out, err
}

// modeHolds reports whether the mode that allowed something is still the
// session's. A verdict that rests on no mode always holds.
func modeHolds(tx Tx, agent, session string, v Verdict) (bool, error) {
	if v.Mode == "" {
		return true, nil
	}
	s, err := tx.Session(agent, session)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && s.ModeAt(tx.Now()) == v.Mode, err
}

const modeEnded = "the mode that allowed it has ended"

// revokeModes takes back what the session's mode allowed and allows no more.
func revokeModes(tx Tx, b *Batch) error {
	for _, c := range b.Calls {
		if !c.permit() || c.Decided.By.Kind != PolicyActor {
			continue
		}
		holds, err := modeHolds(tx, b.Agent, b.Session, c.Verdict)
		if err != nil {
			return err
		}
		if !holds {
			b.move(c, CallRevoked, Decision{State: Revoked, By: Actor{Kind: PolicyActor}, At: tx.Now(), Note: modeEnded, Digest: c.Digest})
		}
	}
	return nil
}

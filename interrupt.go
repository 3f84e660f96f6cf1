package gatelatch

import (
	"context"
	"errors"
	"time"

	"github.com/gatelatch/gatelatch/redact"
)

// A Halt is a person's word that a session stops, until its host or its next
// call was told.
type Halt struct {
	By   Actor     `json:"by"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// Interrupt ends the turn of a session: what waits in it is denied, a host that
// follows its interrupts ends the turn, and of any other the next call does.
func (s *Seat) Interrupt(ctx context.Context, agent, session, note string) (sess *Session, err error) {
	if err := errors.Join(s.is(PersonActor), checkText("note", note, maxText)); err != nil {
		return nil, err
	}
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if sess, err = tx.Session(agent, session); err != nil {
			return err
		}
		h := &Halt{By: s.who, At: tx.Now(), Note: redact.Text(note)}
		sess.Interrupts, sess.Halt = sess.Interrupts+1, h
		if err := tx.SaveSession(sess); err != nil {
			return err
		}
		if err := eachLive(tx, agent, session, func(b *Batch) { h.deny(b) }); err != nil {
			return err
		}
		return tx.Record(Event{Kind: SessionInterrupted, By: s.who, At: h.At, Body: eventBody(struct {
			Agent   string `json:"agent"`
			Session string `json:"session"`
			Note    string `json:"note,omitempty"`
		}{agent, session, h.Note})})
	})
	return sess, err
}

// deny settles what waits in b, and reports whether anything did.
func (h *Halt) deny(b *Batch) (some bool) {
	for _, c := range b.Calls {
		if c.State == Pending && !c.late(h.At) {
			b.move(c, CallDecided, Decision{State: Denied, By: h.By, At: h.At, Note: h.Note, Interrupt: true, Digest: c.Digest})
			some = true
		}
	}
	return some
}

// FollowInterrupts is for the host of a session: it waits until people have
// interrupted it more often than known, and returns how often. A host that
// knows of all has told its agent. Before it knows any number it gives -1: then
// one that nobody was told of yet does not count, and is told next.
func (s *Seat) FollowInterrupts(ctx context.Context, session string, known int64) (int64, error) {
	if err := s.is(AgentActor); err != nil {
		return known, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wake := s.gate.hub.grown(ctx)
	for {
		n, err := s.interrupts(ctx, session, known)
		if err != nil || n != known {
			return n, err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return known, context.Cause(ctx)
		}
	}
}

func (s *Seat) interrupts(ctx context.Context, session string, known int64) (n int64, err error) {
	var told bool
	read := func(r Reader) (*Session, error) {
		sess, err := r.Session(s.who.ID, session)
		if errors.Is(err, ErrNotFound) {
			return &Session{}, nil
		}
		return sess, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error {
		sess, err := read(r)
		if err == nil {
			n, told = sess.Interrupts, sess.Halt != nil && sess.Interrupts == known
			if known < 0 && sess.Halt != nil {
				n--
			}
		}
		return err
	})
	if err != nil || !told {
		return n, err
	}
	return n, s.gate.store.Update(ctx, func(tx Tx) error {
		sess, err := read(tx)
		if err != nil || sess.Interrupts != known || sess.Halt == nil {
			return err
		}
		sess.Halt = nil
		return tx.SaveSession(sess)
	})
}

// halted ends the turn with a new batch of a session that is to stop, unless
// policy denied all of it: that stops nothing.
func halted(tx Tx, sess *Session, b *Batch) error {
	h := *sess.Halt
	if h.At = tx.Now(); !h.deny(b) {
		return nil
	}
	sess.Halt = nil
	return tx.SaveSession(sess)
}

// heldBack makes every verdict wait: an allow would be used at once.
func heldBack(js []judged) []judged {
	out := make([]judged, len(js))
	for i, j := range js {
		if j.verdict.Effect == Allow {
			j.verdict = Verdict{Effect: Ask, Reasons: []Reason{{Effect: Ask, Layer: "interrupt", Message: "a person stopped the session"}}}
		}
		out[i] = j
	}
	return out
}

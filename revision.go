package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/redact"
)

// A Revision is the policy as it was put in force at some time. Each is kept,
// so that a verdict of long ago can be explained.
type Revision struct {
	Number int64     `json:"number"` // from 1
	Text   string    `json:"text"`
	By     Actor     `json:"by"`
	At     time.Time `json:"at"`
	Note   string    `json:"note,omitempty"`
}

// Shared is a Policy whose rules lie in the store, for all gateways. The gate
// sees to it that nothing is saved that was judged by another revision than the
// one in force.
type Shared interface {
	Policy
	// Revision is the number of the rules that it judges by.
	Revision() int64
	// Use judges by a revision from now on. One that it can't read denies
	// everything.
	Use(*Revision)
	// Check says what is wrong with a text, before anybody puts it in force.
	Check(text string) error
}

const maxPolicy = 1 << 20

// Policy returns the revision in force, ErrNotFound if there is none yet.
func (s *Seat) Policy(ctx context.Context) (rev *Revision, err error) {
	if err := s.is(PersonActor); err != nil {
		return nil, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error {
		ctl, err := r.Control()
		if err != nil {
			return err
		}
		rev, err = r.Revision(ctl.Revision)
		return err
	})
	return rev, err
}

// ApplyPolicy puts a text in force for all gateways, if the revision in force
// is the one it was made from.
func (s *Seat) ApplyPolicy(ctx context.Context, from int64, text, note string) (*Revision, error) {
	if err := errors.Join(s.is(PersonActor), checkText("policy", text, maxPolicy), checkText("note", note, maxText)); err != nil {
		return nil, err
	}
	shared, ok := s.gate.policy.(Shared)
	if !ok {
		return nil, invalid("this gateway judges by a file: change the file")
	}
	if err := shared.Check(text); err != nil {
		return nil, invalid("%v", err)
	}
	return s.gate.revise(ctx, from, Revision{Text: text, By: s.who, Note: note})
}

// Adopt notes the text of a policy that lies in a file, unless it is the one in
// force.
func (g *Gate) Adopt(ctx context.Context, text string) error {
	var now int64
	var same bool
	err := g.store.View(ctx, func(r Reader) error {
		ctl, err := r.Control()
		if err != nil {
			return err
		}
		now = ctl.Revision
		rev, err := r.Revision(now)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		same = err == nil && rev.Text == text
		return err
	})
	if err != nil || same {
		return err
	}
	_, err = g.revise(ctx, now, Revision{Text: text, By: Actor{Kind: GatewayActor}})
	return err
}

func (g *Gate) revise(ctx context.Context, from int64, rev Revision) (*Revision, error) {
	rev.Note = redact.Text(rev.Note)
	err := g.store.Update(ctx, func(tx Tx) error {
		ctl, err := tx.Control()
		switch {
		case err != nil:
			return err
		case ctl.Revision != from:
			return fmt.Errorf("revision %d is in force, not %d: %w", ctl.Revision, from, ErrConflict)
		}
		rev.Number, rev.At = from+1, tx.Now()
		if err := tx.AddRevision(&rev); err != nil {
			return err
		}
		ctl.Revision = rev.Number
		if err := tx.SaveControl(ctl); err != nil {
			return err
		}
		return tx.Record(Event{Kind: PolicyChanged, By: rev.By, At: rev.At, Body: eventBody(struct {
			Revision int64  `json:"revision"`
			Text     Sum    `json:"text"`
			Note     string `json:"note,omitempty"`
		}{rev.Number, SumOf([]byte(rev.Text)), rev.Note})})
	})
	return &rev, err
}

// catchUp is CatchUp within other reading.
func (g *Gate) catchUp(r Reader, ctl Control) error {
	shared, ok := g.policy.(Shared)
	if !ok || ctl.Revision == 0 || shared.Revision() == ctl.Revision {
		return nil
	}
	rev, err := r.Revision(ctl.Revision)
	if err == nil {
		shared.Use(rev)
	}
	return err
}

// CatchUp loads the revision in force, if the policy is a shared one and judges
// by another. Proposing does so by itself.
func (g *Gate) CatchUp(ctx context.Context) error {
	if _, ok := g.policy.(Shared); !ok {
		return nil
	}
	return g.store.View(ctx, func(r Reader) error {
		ctl, err := r.Control()
		if err != nil {
			return err
		}
		return g.catchUp(r, ctl)
	})
}

// inForce reports whether the gate judges by the rules that are in force.
func (g *Gate) inForce(ctl Control) bool { return g.revision() < 0 || g.revision() == ctl.Revision }

// revision returns the number of the rules that verdicts are reached by now,
// or less than 0 if they are the gate's own.
func (g *Gate) revision() int64 {
	if shared, ok := g.policy.(Shared); ok {
		return shared.Revision()
	}
	return -1
}

package gatelatch

import (
	"context"
	"errors"

	"github.com/gatelatch/gatelatch/redact"
)

// A Status is what holds for the whole gateway.
type Status struct {
	Pause Pause
	Muted map[string]Muting // agents that may not ask
	Seq   Seq
}

// Status returns the pause switch and the end of the trail.
func (s *Seat) Status(ctx context.Context) (st Status, err error) {
	if err := s.is(PersonActor); err != nil {
		return Status{}, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error {
		ctl, err := r.Control()
		if err != nil {
			return err
		}
		st.Pause, st.Muted = ctl.Pause, ctl.Muted
		st.Seq, err = r.LastSeq()
		return err
	})
	return st, err
}

// Pause denies everything until Unpause: first the switch, so that nothing
// opens any more, then what waits and what was allowed but not taken, one batch
// at a time.
func (s *Seat) Pause(ctx context.Context, note string) error {
	note = redact.Text(note)
	why := "everything was stopped"
	if note != "" {
		why += ": " + note
	}
	if err := errors.Join(s.is(PersonActor), checkText("note", why, maxText)); err != nil {
		return err
	}
	if err := s.setPause(ctx, true, note); err != nil {
		return err
	}
	return errors.Join(s.denyWaiting(ctx, why), s.revokePermits(ctx, why))
}

func (s *Seat) denyWaiting(ctx context.Context, why string) error {
	for {
		p, err := s.List(ctx, Query{Pending: true, Limit: 100})
		if err != nil || len(p.Calls) == 0 {
			return err
		}
		for _, l := range p.Calls {
			d := Decision{State: Denied, Digest: l.Digest, Note: why}
			if _, err := s.Decide(ctx, l.ID, d); err != nil && !errors.Is(err, ErrSettled) && !errors.Is(err, ErrChanged) {
				return err
			}
		}
	}
}

// revokePermits takes back every allow that nobody has consumed.
func (s *Seat) revokePermits(ctx context.Context, why string) error {
	return s.gate.eachPermit(ctx, func(tx Tx, b *Batch) error {
		b.Revoke(s.who, why, tx.Now())
		return nil
	})
}

// Unpause lets policy and people decide again.
func (s *Seat) Unpause(ctx context.Context) error {
	if err := s.is(PersonActor); err != nil {
		return err
	}
	return s.setPause(ctx, false, "")
}

func (s *Seat) setPause(ctx context.Context, on bool, note string) error {
	return s.gate.store.Update(ctx, func(tx Tx) error {
		ctl, err := tx.Control()
		if err != nil || ctl.Pause.On == on {
			return err
		}
		ctl.Pause = Pause{On: on, By: s.who, At: tx.Now(), Note: note}
		if err := tx.SaveControl(ctl); err != nil {
			return err
		}
		kind := GatePaused
		if !on {
			kind = GateUnpaused
		}
		return tx.Record(Event{Kind: kind, By: s.who, At: ctl.Pause.At})
	})
}

func denyAll(js []judged, pause Pause) []judged {
	out := make([]judged, len(js))
	for i, j := range js {
		why := Reason{Effect: Deny, Layer: "pause", Message: pausedText(pause)}
		j.verdict.Effect = Deny
		j.verdict.Reasons = append([]Reason{why}, j.verdict.Reasons...)
		out[i] = j
	}
	return out
}

func pausedText(p Pause) string {
	t := "Gatelatch is paused by " + p.By.String() + "; everything is denied until it is resumed"
	if p.Note != "" {
		t += " (" + p.Note + ")"
	}
	return t
}

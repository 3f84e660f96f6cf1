package gatelatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/twin"
)

// maxGrants is how many grants judging looks at; older ones no longer count.
const maxGrants = 1000

// ledger holds the grants of one epoch, so that judging a call costs no query.
type ledger struct {
	mu     sync.Mutex
	known  bool
	epoch  int64
	grants []*Grant
}

// at returns the grants of an epoch that is current in r. They are shared:
// nobody changes them.
func (l *ledger) at(r Reader, epoch int64) ([]*Grant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known && l.epoch == epoch {
		return l.grants, nil
	}
	gs, err := r.Grants(true, maxGrants)
	if err != nil {
		return nil, err
	}
	if !l.known || epoch > l.epoch {
		l.known, l.epoch, l.grants = true, epoch, gs
	}
	return gs, nil
}

// last returns the newest epoch that was read, and its grants.
func (l *ledger) last() (int64, []*Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch, l.grants
}

// grants returns those that are good now and reach the session.
func (g *Gate) grants(r Reader, s *Session) ([]*Grant, int64, error) {
	ctl, err := r.Control()
	if err == nil {
		err = g.catchUp(r, ctl)
	}
	if err != nil {
		return nil, 0, err
	}
	all, err := g.ledger.at(r, ctl.Epoch)
	return reaching(all, s, r.Now()), ctl.Epoch, err
}

func reaching(all []*Grant, s *Session, now time.Time) (out []*Grant) {
	for _, gr := range all {
		if gr.Good(now) && gr.reaches(s) {
			out = append(out, gr)
		}
	}
	return out
}

// charge uses the grants that allowed something. One that ended since it was
// looked at allows nothing, nor does a mode: the call is asked about.
func charge(tx Tx, s *Session, js []judged) ([]judged, error) {
	out := make([]judged, len(js))
	for i, j := range js {
		holds, err := modeHolds(tx, s.Agent, s.ID, j.verdict)
		if err != nil {
			return nil, err
		}
		if !holds {
			j.verdict = without(j.verdict, "session", modeEnded)
		}
		if j.verdict.Grant != "" {
			ok, err := chargeOne(tx, s, j.verdict.Grant)
			if err != nil {
				return nil, err
			}
			if !ok {
				j.verdict = without(j.verdict, "grant", "the grant that allowed this has ended")
			}
		}
		out[i] = j
	}
	return out, nil
}

func chargeOne(tx Tx, s *Session, grant string) (bool, error) {
	gr, err := tx.Grant(grant)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case (!gr.Good(tx.Now()) || !gr.reaches(s)) && twin.Is != "revoked_grant_allows":
		return false, nil
	case !gr.use(tx.Now()):
		return true, nil
	}
	if err := tx.SaveGrant(gr); err != nil || gr.Uses == 0 || gr.Used < gr.Uses {
		return true, err
	}
	return true, nextEpoch(tx) // used up, it must not stand before another in a ledger
}

func nextEpoch(tx Tx) error {
	ctl, err := tx.Control()
	if err != nil {
		return err
	}
	ctl.Epoch++
	return tx.SaveControl(ctl)
}

// without is the verdict when what allowed has ended.
func without(v Verdict, layer, why string) Verdict {
	v.Effect, v.Grant, v.Mode = min(v.Effect, Ask), "", ""
	v.Reasons = append([]Reason{{Effect: Ask, Layer: layer, Message: why}}, v.Reasons...)
	return v
}

// revokeEnded takes back what a grant or a mode allowed that has ended since.
// It is asked before anything opens or is consumed, so that a revocation holds
// at once, however far its work has come.
func revokeEnded(tx Tx, b *Batch) error {
	if err := revokeModes(tx, b); err != nil {
		return err
	}
	for _, c := range b.Calls {
		if !c.permit() || c.Decided.Grant == "" || c.Decided.By.Kind != PolicyActor || twin.Is == "revoked_grant_allows" {
			continue
		}
		gr, err := tx.Grant(c.Decided.Grant)
		switch {
		case errors.Is(err, ErrNotFound):
			b.RevokeGrant(c.Decided.Grant, Actor{Kind: GatewayActor}, grantRevoked, tx.Now())
		case err != nil:
			return err
		case !gr.Revoked.IsZero():
			b.RevokeGrant(gr.ID, *gr.RevokedBy, grantRevoked, tx.Now())
		}
	}
	return nil
}

const grantRevoked = "the grant it rested on was revoked"

// Revoke ends the grant.
func (g *Grant) Revoke(by Actor, at time.Time) { g.Revoked, g.RevokedBy = at, &by }

// remember makes the grant that a decision asks for, in its transaction.
func remember(tx Tx, grantID string, b *Batch, c *Call, s *Session, d Decision) error {
	t := d.Remember
	gr := &Grant{ID: grantID, Match: t.Match, Scope: t.Scope, Agent: b.Agent, Call: c.ID, By: d.By, At: d.At, Uses: t.Uses}
	switch {
	case t.Scope == ForSession:
		gr.Session, gr.Project = b.Session, s.Project
	case t.Scope == ForProject && s.Project == "":
		return invalid("the agent named no project, so nothing can be remembered for it")
	case t.Scope == ForProject:
		gr.Project = s.Project
	}
	if c.Bound != nil {
		gr.Server = c.Bound.Server
	}
	if t.For > 0 {
		gr.Until = d.At.Add(t.For)
	}
	if err := tx.SaveGrant(gr); err != nil {
		return err
	}
	return grantChanged(tx, gr, GrantMade, d.By)
}

// grantChanged begins a new epoch, and the work of judging again what waits.
func grantChanged(tx Tx, gr *Grant, kind EventKind, by Actor) error {
	if err := nextEpoch(tx); err != nil {
		return err
	}
	if err := tx.SaveWork(&Work{ID: id.New("wrk"), Grant: gr.ID, At: tx.Now()}); err != nil {
		return err
	}
	return tx.Record(Event{Kind: kind, By: by, At: tx.Now(), Call: gr.Call, Body: eventBody(struct {
		Grant string    `json:"grant"`
		Match Sum       `json:"match"` // the matcher may quote an input
		Scope Scope     `json:"scope"`
		Until time.Time `json:"until,omitzero"`
		Uses  int       `json:"uses,omitempty"`
	}{gr.ID, SumOf([]byte(gr.Match)), gr.Scope, gr.Until, gr.Uses})})
}

// Grants implements Approver.
func (s *Seat) Grants(ctx context.Context, live bool, limit int) (gs []*Grant, err error) {
	if err := s.is(PersonActor); err != nil {
		return nil, err
	}
	err = s.gate.store.View(ctx, func(r Reader) error { gs, err = r.Grants(live, limit); return err })
	return gs, err
}

// RevokeGrant implements Approver.
func (s *Seat) RevokeGrant(ctx context.Context, grantID string) (gr *Grant, err error) {
	if err := s.is(PersonActor); err != nil {
		return nil, err
	}
	err = s.gate.store.Update(ctx, func(tx Tx) error {
		if gr, err = tx.Grant(grantID); err != nil || !gr.Revoked.IsZero() {
			return err
		}
		gr.Revoke(s.who, tx.Now())
		if err := tx.SaveGrant(gr); err != nil {
			return err
		}
		return grantChanged(tx, gr, GrantRevoked, s.who)
	})
	if err == nil {
		poke(s.gate.hub.sooner)
	}
	return gr, err
}

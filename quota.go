package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Quota is how much of people's attention one agent gets. Only what would ask a
// person counts, not what rules settle. What is over it is denied at once, and
// nothing that waits is ever dropped for it. The zero value limits nothing.
type Quota struct {
	Rate    int           // asks a minute
	Burst   int           // and so many at once
	Pending int           // calls that wait
	Again   time.Duration // what a person denied is not asked again in its turn for so long
	Overs   int           // minutes over it, within ten, after which the agent is muted
}

// DefaultQuota is what a gateway begins with.
var DefaultQuota = Quota{Rate: 20, Burst: 50, Pending: 1000, Again: time.Minute, Overs: 3}

// A Meter is what an agent has used of its quota, kept with its key.
type Meter struct {
	Full   time.Time   `json:"full,omitzero"`  // when all that was asked is paid off
	Over   []time.Time `json:"over,omitempty"` // minutes in which it asked too much
	Denied []Denial    `json:"denied,omitempty"`
}

// A Denial is remembered for a short while, by the digest of what was denied.
type Denial struct {
	Digest Sum       `json:"digest"`
	Turn   string    `json:"turn,omitempty"`
	At     time.Time `json:"at"`
	Note   string    `json:"note,omitempty"`
}

// Muting says that an agent may not ask for now; what rules settle goes on.
type Muting struct {
	At   time.Time `json:"at"`
	Name string    `json:"name,omitempty"`
}

const (
	overWithin  = 10 * time.Minute
	mostDenials = 64
	denialNote  = 200 // bytes: the agent's key is read with all of them
)

// spend takes one ask, unless that is too much.
func (m *Meter) spend(q Quota, now time.Time) bool {
	if q.Rate <= 0 {
		return true
	}
	each := time.Minute / time.Duration(q.Rate)
	full := later(m.Full, now).Add(each)
	if full.Sub(now) > each*time.Duration(max(q.Burst, 1)) {
		return false
	}
	m.Full = full
	return true
}

// over notes a minute in which the agent asked too much, and reports whether
// those are too many.
func (m *Meter) over(q Quota, now time.Time) bool {
	m.Over = slices.DeleteFunc(slices.Clone(m.Over), func(t time.Time) bool { return now.Sub(t) > overWithin })
	if n := len(m.Over); n == 0 || now.Sub(m.Over[n-1]) >= time.Minute {
		m.Over = append(m.Over, now)
	}
	return q.Overs > 0 && len(m.Over) >= q.Overs
}

// denied returns what a person said about the same call lately, or nil.
func (m *Meter) denied(q Quota, digest Sum, turn string, now time.Time) *Denial {
	for _, d := range slices.Backward(m.Denied) {
		if d.Digest == digest && d.Turn == turn && now.Sub(d.At) < q.Again {
			return &d
		}
	}
	return nil
}

func (m *Meter) deny(q Quota, d Denial) {
	if len(d.Note) > denialNote {
		d.Note = strings.ToValidUTF8(d.Note[:denialNote], "") + " […]"
	}
	m.Denied = slices.DeleteFunc(slices.Clone(m.Denied), func(o Denial) bool { return d.At.Sub(o.At) >= q.Again || o.Digest == d.Digest })
	m.Denied = append(m.Denied, d)
	m.Denied = m.Denied[max(0, len(m.Denied)-mostDenials):]
}

// ration denies what the agent may not ask now. Without an ask it reads nothing.
func (g *Gate) ration(tx Tx, b *Batch, calls []ProposedCall, js []judged) ([]judged, error) {
	asks := slices.ContainsFunc(js, func(j judged) bool { return j.verdict.Effect == Ask })
	if g.Quota == (Quota{}) || !asks {
		return js, nil
	}
	key, err := tx.Key(b.Agent)
	if errors.Is(err, ErrNotFound) {
		return js, nil // an agent without a key is the program itself
	}
	ctl, e := tx.Control()
	waiting, f := tx.Waiting(b.Agent, g.Quota.Pending)
	if err := errors.Join(err, e, f); err != nil {
		return nil, err
	}
	m, now, tooMuch := &key.Meter, tx.Now(), false
	_, muted := ctl.Muted[b.Agent]
	out := slices.Clone(js)
	for i := range out {
		if out[i].verdict.Effect != Ask {
			continue
		}
		var why string
		digest := b.digest(&Call{Kind: calls[i].Kind, Tool: calls[i].Tool, Input: js[i].input, Dir: calls[i].Dir, Bound: js[i].bound})
		d := m.denied(g.Quota, digest, b.Turn, now)
		switch {
		case muted:
			why = "this agent asked too much and may not ask for now; what rules allow still runs. A person can end that with \"gatelatch unmute\""
		case d != nil:
			why = sentence(fmt.Sprintf("a person denied exactly this %d s ago, so nobody was asked again", int(now.Sub(d.At).Seconds())), d.Note)
		case g.Quota.Pending > 0 && waiting >= g.Quota.Pending:
			why, tooMuch = fmt.Sprintf("%d calls of this agent already wait for a person; wait for them, or withdraw some", waiting), true
		case !m.spend(g.Quota, now):
			why, tooMuch = fmt.Sprintf("this agent asked a person too often: %d a minute are allowed. Go on with what needs no permission, and ask again in a minute", g.Quota.Rate), true
		default:
			waiting++
			continue
		}
		v := &out[i].verdict
		out[i].bound = nil // nobody is asked
		v.Effect, v.Grant, v.Needs = Deny, "", nil
		v.Reasons = append([]Reason{{Effect: Deny, Layer: "quota", Rule: "quota", Message: why}}, v.Reasons...)
	}
	if tooMuch && m.over(g.Quota, now) {
		if err := mute(tx, ctl, key, now); err != nil {
			return nil, err
		}
	}
	return out, tx.SaveKey(key)
}

func mute(tx Tx, ctl Control, key *Key, at time.Time) error {
	muted := map[string]Muting{key.ID: {At: at, Name: key.Name}}
	for id, m := range ctl.Muted {
		muted[id] = m
	}
	ctl.Muted, key.Meter.Over = muted, nil
	if err := tx.SaveControl(ctl); err != nil {
		return err
	}
	return tx.Record(Event{Kind: AgentMuted, By: Actor{Kind: GatewayActor}, At: at, Body: eventBody(struct {
		Agent string `json:"agent"`
	}{key.ID})})
}

// Unmute lets an agent ask again.
func (s *Seat) Unmute(ctx context.Context, agent string) error {
	if err := s.is(PersonActor); err != nil {
		return err
	}
	return s.gate.store.Update(ctx, func(tx Tx) error {
		ctl, err := tx.Control()
		if err != nil {
			return err
		}
		if _, muted := ctl.Muted[agent]; !muted {
			return fmt.Errorf("no muted agent %q: %w", agent, ErrNotFound)
		}
		left := map[string]Muting{}
		for id, m := range ctl.Muted {
			if id != agent {
				left[id] = m
			}
		}
		ctl.Muted = left
		if err := tx.SaveControl(ctl); err != nil {
			return err
		}
		return tx.Record(Event{Kind: AgentUnmuted, By: s.who, At: tx.Now(), Body: eventBody(struct {
			Agent string `json:"agent"`
		}{agent})})
	})
}

// rememberDenial keeps a person's denial for Quota.Again.
func (g *Gate) rememberDenial(tx Tx, b *Batch, d Decision) error {
	if g.Quota.Again <= 0 || d.State != Denied || d.Reply {
		return nil
	}
	ctl, err := tx.Control()
	if err != nil || ctl.Pause.On { // which denied everything, whatever it was
		return err
	}
	key, err := tx.Key(b.Agent)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	key.Meter.deny(g.Quota, Denial{Digest: d.Digest, Turn: b.Turn, At: d.At, Note: d.Note})
	return tx.SaveKey(key)
}

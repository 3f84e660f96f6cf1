package gatelatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Quota is how much of people's attention one agent gets, and of the disk. Only
// what would ask a person counts, not what rules settle, but for Daily. What is over it is denied at once, and
// nothing that waits is ever dropped for it. The zero value limits nothing.
type Quota struct {
	Rate    int           // asks a minute
	Burst   int           // and so many at once
	Pending int           // calls that wait
	Again   time.Duration // what a person denied is not asked again in its turn for so long
	Overs   int           // minutes over it, within ten, after which the agent is muted
	Daily   int           // bytes of inputs a day, of all that it proposes
	// Together is how many times that all sessions of one key have together, so
	// that one of them leaves something to the others. Up to 1 they share it.
	Together int
}

// DefaultQuota is what a gateway begins with.
var DefaultQuota = Quota{Rate: 20, Burst: 50, Pending: 1000, Again: time.Minute, Overs: 3, Daily: 1 << 30, Together: 4}

// all is the quota of a key.
func (q Quota) all() Quota {
	n := max(q.Together, 1)
	q.Rate, q.Burst, q.Pending, q.Daily = n*q.Rate, n*q.Burst, n*q.Pending, n*q.Daily
	return q
}

// A Meter is what an agent has used of its quota, kept with its key.
type Meter struct {
	Tally           // of the key: a session is only a name, which an agent can invent
	Denied []Denial `json:"denied,omitempty"`
	// Sessions has those that asked lately, by a hash of their id.
	Sessions map[string]Tally `json:"sessions,omitempty"`
}

// A Tally is what was asked lately.
type Tally struct {
	Full time.Time   `json:"full,omitzero"`  // when all that was asked is paid off
	Over []time.Time `json:"over,omitempty"` // minutes in which it was too much
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
	mostMuted   = 16 // sessions of one key, then the key is
	mostDenials = 64
	denialNote  = 200 // bytes: the agent's key is read with all of them
)

// spent is when one more ask would be paid off; ok is false if that is too much.
func (m *Tally) spent(q Quota, now time.Time) (full time.Time, ok bool) {
	if q.Rate <= 0 {
		return m.Full, true
	}
	each := time.Minute / time.Duration(q.Rate)
	full = later(m.Full, now).Add(each)
	return full, full.Sub(now) <= each*time.Duration(max(q.Burst, 1))
}

// over notes a minute in which it was too much, and reports whether those are
// too many.
func (m *Tally) over(q Quota, now time.Time) bool {
	m.Over = slices.DeleteFunc(slices.Clone(m.Over), func(t time.Time) bool { return now.Sub(t) > overWithin })
	if n := len(m.Over); n == 0 || now.Sub(m.Over[n-1]) >= time.Minute {
		m.Over = append(m.Over, now)
	}
	return q.Overs > 0 && len(m.Over) >= q.Overs
}

// keep notes what a session asked, and forgets those that owe nothing.
func (m *Meter) keep(session string, t Tally, now time.Time) {
	all := maps.Clone(m.Sessions)
	if all == nil {
		all = map[string]Tally{}
	}
	all[session] = t
	maps.DeleteFunc(all, func(_ string, t Tally) bool {
		return !t.Full.After(now) && (len(t.Over) == 0 || now.Sub(t.Over[len(t.Over)-1]) > overWithin)
	})
	m.Sessions = all
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
	if err != nil {
		return nil, err
	}
	r, err := g.rationing(tx, b, key)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(js)
	for i := range out {
		if out[i].verdict.Effect != Ask {
			continue
		}
		digest := b.digest(&Call{Kind: calls[i].Kind, Tool: calls[i].Tool, Input: js[i].input, Dir: calls[i].Dir, Bound: js[i].bound})
		why := r.ask(digest, b.Turn)
		if why == "" {
			continue
		}
		v := &out[i].verdict
		out[i].bound = nil // nobody is asked
		v.Effect, v.Grant, v.Needs = Deny, "", nil
		v.Reasons = append([]Reason{{Effect: Deny, Layer: "quota", Rule: "quota", Message: why}}, v.Reasons...)
	}
	return out, r.end(tx, b)
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

package gatelatch

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// A limit is a quota, with what is used of it.
type limit struct {
	Quota
	tally   Tally
	waiting int
	over    bool
	who     string // as its agent is told
}

// rationing is what an agent asks in one transaction.
type rationing struct {
	Quota
	key     *Key
	session string   // by its hash
	limits  []*limit // the session's own, if it has one; the key's
	muted   bool
	now     time.Time
}

// sessionKey names a session in a meter and, after the key's id, when it is muted.
func sessionKey(b *Batch) string {
	sum := SumFields("gatelatch.quota.v1", []byte(b.Agent), []byte(b.Session))
	return hex.EncodeToString(sum[:6])
}

func (g *Gate) rationing(tx Tx, b *Batch, key *Key) (*rationing, error) {
	ctl, err := tx.Control()
	if err != nil {
		return nil, err
	}
	r := &rationing{Quota: g.Quota, key: key, session: sessionKey(b), now: tx.Now()}
	all := &limit{Quota: g.Quota.all(), tally: key.Meter.Tally, who: "this agent"}
	if all.waiting, err = tx.Waiting(b.Agent, "", all.Pending); err != nil {
		return nil, err
	}
	r.limits = []*limit{all}
	if g.Quota.Together > 1 {
		own := &limit{Quota: g.Quota, tally: key.Meter.Sessions[r.session], who: "this agent"}
		if own.waiting, err = tx.Waiting(b.Agent, b.Session, own.Pending); err != nil {
			return nil, err
		}
		all.who = "this agent, with others that have its key,"
		r.limits = []*limit{own, all}
	}
	_, alone := ctl.Muted[b.Agent+"."+r.session]
	_, together := ctl.Muted[b.Agent]
	r.muted = alone || together
	return r, nil
}

// ask takes one ask, or says why it may not be asked.
func (r *rationing) ask(digest Sum, turn string) (why string) {
	if r.muted {
		return "this agent asked too much and may not ask for now; what rules allow still runs. A person can end that with \"gatelatch unmute\""
	}
	if d := r.key.Meter.denied(r.Quota, digest, turn, r.now); d != nil {
		return sentence(fmt.Sprintf("a person denied exactly this %d s ago, so nobody was asked again", int(r.now.Sub(d.At).Seconds())), d.Note)
	}
	fulls := make([]time.Time, len(r.limits))
	for i, l := range r.limits {
		if l.Pending > 0 && l.waiting >= l.Pending {
			l.over = true
			return fmt.Sprintf("%d calls of %s already wait for a person; wait for them, or withdraw some", l.waiting, l.who)
		}
		var ok bool
		if fulls[i], ok = l.tally.spent(l.Quota, r.now); !ok {
			l.over = true
			return fmt.Sprintf("%s asked a person too often: %d a minute are allowed. Go on with what needs no permission, and ask again in a minute", l.who, l.Rate)
		}
	}
	for i, l := range r.limits {
		l.tally.Full = fulls[i]
		l.waiting++
	}
	return ""
}

// end keeps what was used, and mutes who was over a limit too often.
func (r *rationing) end(tx Tx, b *Batch) error {
	for i, l := range r.limits {
		all := i == len(r.limits)-1
		if l.over && l.tally.over(l.Quota, r.now) {
			l.tally.Over = nil
			if err := r.mute(tx, b, all); err != nil {
				return err
			}
		}
		if all {
			r.key.Meter.Tally = l.tally
		} else {
			r.key.Meter.keep(r.session, l.tally, r.now)
		}
	}
	return tx.SaveKey(r.key)
}

// mute silences the session, or the key if all of it was too much or too many
// of its sessions are muted.
func (r *rationing) mute(tx Tx, b *Batch, all bool) error {
	ctl, err := tx.Control()
	if err != nil {
		return err
	}
	muted, sessions := map[string]Muting{}, 0
	for id, m := range ctl.Muted {
		muted[id] = m
		if strings.HasPrefix(id, b.Agent+".") {
			sessions++
		}
	}
	id, name := b.Agent, r.key.Name
	if !all && sessions < mostMuted {
		sess, err := tx.Session(b.Agent, b.Session)
		if err != nil {
			return err
		}
		if id += "." + r.session; sess.Name != "" {
			name = sess.Name
		}
		if sess.Project != "" {
			name += " in " + filepath.Base(sess.Project)
		}
	}
	muted[id] = Muting{At: r.now, Name: name}
	ctl.Muted = muted
	if err := tx.SaveControl(ctl); err != nil {
		return err
	}
	return tx.Record(Event{Kind: AgentMuted, By: Actor{Kind: GatewayActor}, At: r.now, Body: eventBody(struct {
		Agent string `json:"agent"`
	}{id})})
}

package notify

import (
	"errors"

	"github.com/gatelatch/gatelatch"
)

// make writes messages and moves the cursor. All reading comes before all
// writing: a store may have to do with one that reads what it wrote alone.
func (o *Outbox) make(tx gatelatch.Tx, n news) error {
	c, err := tx.Cursor(cursorName)
	if err != nil || c.Version > 0 && c.Seq >= n.upto {
		return err // another gateway was here
	}
	out := map[string]*gatelatch.Message{}
	for _, call := range n.asked {
		if err := o.asked(tx, call, out); err != nil {
			return err
		}
	}
	for _, call := range n.settled {
		if err := o.settled(tx, call, out); err != nil {
			return err
		}
	}
	for _, m := range out {
		if err := tx.SaveMessage(m); err != nil {
			return err
		}
	}
	c.Seq = n.upto
	return tx.SaveCursor(c)
}

// load returns a call. One that is forgotten is nil.
func load(r gatelatch.Reader, call string) (*gatelatch.Listed, error) {
	b, err := r.BatchOfCall(call)
	if errors.Is(err, gatelatch.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := r.Session(b.Agent, b.Session)
	if errors.Is(err, gatelatch.ErrNotFound) { // the two are forgotten together, but not always read so
		return nil, nil
	}
	return &gatelatch.Listed{Call: b.Call(call), Batch: b, Session: s}, err
}

func (o *Outbox) asked(tx gatelatch.Tx, call string, out map[string]*gatelatch.Message) error {
	l, err := load(tx, call)
	if err != nil || l == nil || l.State != gatelatch.Pending {
		return err
	}
	rule := o.rule(*l)
	wait := rule.After
	if o.Looking != nil && o.PageDelay > wait && o.Looking() {
		wait = o.PageDelay
	}
	now := tx.Now()
	for _, name := range rule.To {
		m := gatelatch.NewMessage(gatelatch.AskedMessage, 0, name, call, now, now.Add(wait))
		switch _, err := tx.Message(m.ID); {
		case errors.Is(err, gatelatch.ErrNotFound):
			out[m.ID] = m
		case err != nil:
			return err
		}
	}
	return nil
}

// settled drops what was not sent and takes back what was. What is on its way
// is left to who sends it.
func (o *Outbox) settled(tx gatelatch.Tx, call string, out map[string]*gatelatch.Message) error {
	l, err := load(tx, call)
	if err != nil || l != nil && l.State == gatelatch.Pending {
		return err
	}
	ms, err := tx.Messages(gatelatch.MessageQuery{Call: call})
	for _, m := range ms {
		switch {
		case m.Kind == gatelatch.SettledMessage || m.Claimed != "":
		case m.State == gatelatch.MessageWaiting:
			m.Drop()
			out[m.ID] = m
			fallthrough
		case m.State == gatelatch.MessageSent:
			if err := o.takeBack(tx, m, out); err != nil {
				return err
			}
		}
	}
	return err
}

// takeBack makes the message that takes back m, if its channel can and anybody
// may have heard.
func (o *Outbox) takeBack(tx gatelatch.Tx, m *gatelatch.Message, out map[string]*gatelatch.Message) error {
	if t := o.target(m.Channel); t == nil || !t.Settled || m.Tries == 0 {
		return nil
	}
	now := tx.Now()
	back := gatelatch.NewMessage(gatelatch.SettledMessage, 0, m.Channel, m.Call, now, now)
	_, err := tx.Message(back.ID)
	if errors.Is(err, gatelatch.ErrNotFound) {
		out[back.ID], err = back, nil
	}
	return err
}

func (o *Outbox) target(name string) *Target {
	for _, t := range o.Targets {
		if t.Name == name {
			return t
		}
	}
	return nil
}

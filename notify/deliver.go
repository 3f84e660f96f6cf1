package notify

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
)

const (
	sendTime   = 20 * time.Second
	lease      = time.Minute // longer than a send, so that nobody else begins meanwhile
	tries      = 8
	firstWait  = 5 * time.Second
	longest    = 10 * time.Minute
	perChannel = 4   // messages under way at once
	look       = 100 // due messages looked at in one go
	buttonLife = 24 * time.Hour
	maxError   = 200
)

// backoff is how long to wait after the n-th try failed: twice as long each
// time, more or less, so that gateways don't come back together.
func backoff(n int) time.Duration {
	d := min(longest, firstWait<<min(n-1, 16))
	return d/2 + rand.N(d) //nolint:gosec // it spreads load, and keeps no secret
}

// sending is a message that was claimed, in words.
type sending struct {
	m *gatelatch.Message
	t *Target
	n Notice
}

// deliver sends what is due, until ctx ends.
func (o *Outbox) deliver(ctx context.Context, work *sync.WaitGroup, made <-chan struct{}) {
	const idle, again = 30 * time.Second, time.Second
	for ctx.Err() == nil {
		wait := idle
		out, next, err := o.take(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, gatelatch.ErrStale):
			o.Log.Warn("could not look for messages", "err", err)
			wait = again
		case err != nil:
			wait = again
		case !next.IsZero():
			wait = min(idle, max(next.Sub(o.now()), 10*time.Millisecond))
		}
		for _, s := range out {
			work.Go(func() {
				defer o.ended(s.m.Channel)
				o.send(ctx, s)
			})
		}
		pause(ctx, wait, made, o.done)
	}
}

func (o *Outbox) ended(channel string) {
	o.mu.Lock()
	o.busy[channel]--
	o.mu.Unlock()
	poke(o.done)
}

// take claims what is due and may go out now, in one transaction.
func (o *Outbox) take(ctx context.Context) (out []sending, next time.Time, err error) {
	var spent map[share]int
	var at time.Time
	err = o.Store.Update(ctx, func(tx gatelatch.Tx) error {
		out, spent = nil, map[share]int{}
		now := tx.Now()
		at = now
		var due []*gatelatch.Message
		if due, next, err = tx.MessagesDue(now, look); err != nil {
			return err
		}
		changed := map[string]*gatelatch.Message{}
		for _, m := range due {
			s, err := o.ready(tx, m, spent, changed)
			if err != nil {
				return err
			}
			if s != nil {
				out = append(out, *s)
			}
		}
		for _, m := range changed {
			if err := tx.SaveMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, next, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for s, n := range spent {
		if s.agent == "" {
			o.busy[s.channel] += n
		} else {
			o.rate(s).spend(n)
		}
	}
	o.forgetRates(at)
	return out, next, nil
}

// ready decides what becomes of a message that is due: it is claimed, dropped,
// put off, or left until its channel has done others.
func (o *Outbox) ready(tx gatelatch.Tx, m *gatelatch.Message, spent map[share]int, changed map[string]*gatelatch.Message) (*sending, error) {
	now := tx.Now()
	t := o.target(m.Channel)
	if t == nil {
		m.Tries++
		m.Failed(errNoChannel.Error(), o.again(m), now)
		changed[m.ID] = m
		return nil, nil
	}
	l, err := load(tx, m.Call)
	if err != nil {
		return nil, err
	}
	told := m.Kind == gatelatch.SettledMessage
	if l == nil || told == (l.State == gatelatch.Pending) {
		m.Drop()
		changed[m.ID] = m
		if l == nil || told {
			return nil, nil
		}
		return nil, o.takeBack(tx, m, changed)
	}
	if !told {
		if until := o.rule(*l).Quiet.until(now.Local()); until.After(now) {
			m.Later(until)
			changed[m.ID] = m
			return nil, nil
		}
	}
	of := share{m.Channel, l.Batch.Agent, l.Batch.Session}
	if !o.room(m, of, spent, now) {
		if slot, ok := o.slot(of, spent, now); ok {
			m.Later(slot)
			changed[m.ID] = m
		}
		return nil, nil
	}
	if err := m.Claim(o.holder, lease, now); err != nil {
		return nil, err
	}
	for _, s := range append(of.both(), share{channel: m.Channel}) {
		spent[s]++
	}
	n := o.notice(m, *l)
	if t.Input && !told {
		n.Input = input(l.Call)
	}
	o.buttons(t, m, l, &n, now)
	changed[m.ID] = m
	own := *m
	own.Version++
	return &sending{m: &own, t: t, n: n}, nil
}

// buttons gives a notice what decides by it. A high risk is allowed on the page
// only, where one sees what would run, and so is what needs a passkey.
func (o *Outbox) buttons(t *Target, m *gatelatch.Message, l *gatelatch.Listed, n *Notice, now time.Time) {
	if !t.Buttons || o.Public == "" || l.State != gatelatch.Pending || l.Kind != gatelatch.Permission {
		return
	}
	m.Digest, m.Expires, m.Used = l.Digest, now.Add(buttonLife), time.Time{}
	button := func(hash *gatelatch.Sum) string {
		secret := m.ID + "." + id.Secret("btn")
		*hash = gatelatch.SumOf([]byte(secret))
		return secret
	}
	n.Deny = button(&m.Denies)
	m.Allows = gatelatch.Sum{}
	if n.Risk != High && (o.Signs == nil || !o.Signs(l.Call, gatelatch.Decision{State: gatelatch.Allowed})) {
		n.Allow = button(&m.Allows)
	}
}

// again is how long after a failed try comes the next; 0 is never.
func (o *Outbox) again(m *gatelatch.Message) time.Duration {
	if m.Tries >= tries {
		return 0
	}
	return backoff(m.Tries)
}

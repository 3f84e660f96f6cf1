package notify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Press decides by the secret of a button, as the person whose channel it came
// by. It works once, for exactly what was asked when the notice went out.
func (o *Outbox) Press(ctx context.Context, gate *gatelatch.Gate, secret string) (*gatelatch.Call, error) {
	name, _, _ := strings.Cut(secret, ".")
	var m *gatelatch.Message
	var state gatelatch.State
	// Who guesses must not keep the writer busy.
	err := o.Store.View(ctx, func(r gatelatch.Reader) (err error) {
		if m, err = r.Message(name); err == nil {
			_, err = m.Pressed([]byte(secret), r.Now())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = o.Store.Update(ctx, func(tx gatelatch.Tx) (err error) {
		if m, err = tx.Message(name); err != nil {
			return err
		}
		if state, err = m.Pressed([]byte(secret), tx.Now()); err != nil {
			return err
		}
		return tx.SaveMessage(m)
	})
	if err != nil {
		return nil, err
	}
	t := o.target(m.Channel)
	if t == nil || !t.Buttons {
		return nil, fmt.Errorf("the channel decides nothing: %w", gatelatch.ErrForbidden)
	}
	seat := gate.As(t.actor())
	l, err := seat.Call(ctx, m.Call)
	if err != nil {
		return nil, err
	}
	if state == gatelatch.Allowed && RiskOf(l.Call) == High {
		return nil, fmt.Errorf("a call of high risk is allowed on the page: %w", gatelatch.ErrForbidden)
	}
	b, err := seat.Decide(ctx, m.Call, gatelatch.Decision{State: state, Digest: m.Digest})
	if err != nil {
		return nil, err
	}
	return b.Call(m.Call), nil
}

// actor is who decides by the channel.
func (t *Target) actor() gatelatch.Actor {
	return gatelatch.Actor{Kind: gatelatch.PersonActor, ID: t.Type + ":" + t.Name, Name: t.Person + " via " + t.Type}
}

// Messages returns the newest first.
func (o *Outbox) Messages(ctx context.Context) (ms []*gatelatch.Message, err error) {
	const most = 500
	err = o.Store.View(ctx, func(r gatelatch.Reader) error { ms, err = r.Messages(gatelatch.MessageQuery{Limit: most}); return err })
	return ms, err
}

// A Trial is how trying a channel went.
type Trial struct {
	Channel string
	Type    string
	Took    time.Duration
	Err     error
}

// Try sends a test by one channel, or by all, at once and past the outbox.
func (o *Outbox) Try(ctx context.Context, channel string) (out []Trial, err error) {
	if channel != "" && o.target(channel) == nil {
		return nil, fmt.Errorf("channel %q: %w", channel, gatelatch.ErrNotFound)
	}
	for _, t := range o.Targets {
		if channel != "" && t.Name != channel {
			continue
		}
		begin := time.Now()
		limited, stop := context.WithTimeout(ctx, sendTime)
		err := safely(limited, t, o.trial(t))
		stop()
		out = append(out, Trial{Channel: t.Name, Type: t.Type, Took: time.Since(begin), Err: err})
	}
	return out, nil
}

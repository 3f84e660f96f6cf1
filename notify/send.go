package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/redact"
)

// send sends one message and notes how that went.
func (o *Outbox) send(ctx context.Context, s sending) {
	limited, stop := context.WithTimeout(ctx, sendTime)
	err := safely(limited, s.t, s.n)
	stop()
	if ctx.Err() != nil && err != nil {
		return // the gateway stops: the lease ends, and the message is sent by the next
	}
	why, after := "", time.Duration(0)
	if err != nil {
		why, after = brief(err), o.again(s.m)
		var never *PermanentError
		var busy *BusyError
		switch {
		case errors.As(err, &never):
			after = 0
		case errors.As(err, &busy) && after > 0:
			after = max(after, min(busy.After, time.Hour))
		}
		o.Log.Warn("could not tell anybody that a call waits", "channel", s.m.Channel, "try", s.m.Tries, "err", why, "again_in", after)
		if o.Missed != nil {
			o.Missed(s.m.Channel)
		}
	}
	// The answer is noted also if the gateway is stopping.
	noted, stop := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer stop()
	if e := o.Store.Update(noted, func(tx gatelatch.Tx) error { return o.note(tx, s, why, after) }); e != nil && !errors.Is(e, gatelatch.ErrStale) {
		o.Log.Warn("could not note that a message was sent", "channel", s.m.Channel, "err", e)
	}
}

func safely(ctx context.Context, t *Target, n Notice) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = permanent(fmt.Errorf("panic: %v", p))
		}
	}()
	return t.Send(ctx, n)
}

func brief(err error) string {
	r := []rune(redact.Text(err.Error()))
	return string(r[:min(len(r), maxError)])
}

// note saves how sending went, with what follows: a reminder, or that the call
// was settled meanwhile.
func (o *Outbox) note(tx gatelatch.Tx, s sending, why string, after time.Duration) error {
	m, err := tx.Message(s.m.ID)
	if err != nil {
		return err
	}
	if m.Claimed != o.holder || m.State != gatelatch.MessageWaiting {
		return gatelatch.ErrStale
	}
	now, changed := tx.Now(), map[string]*gatelatch.Message{m.ID: m}
	if why != "" {
		m.Failed(why, after, now)
	} else {
		m.Delivered(now)
		if err := o.next(tx, m, changed); err != nil {
			return err
		}
	}
	for _, v := range changed {
		if err := tx.SaveMessage(v); err != nil {
			return err
		}
	}
	return nil
}

func (o *Outbox) next(tx gatelatch.Tx, m *gatelatch.Message, changed map[string]*gatelatch.Message) error {
	if m.Kind == gatelatch.SettledMessage {
		return nil
	}
	l, err := load(tx, m.Call)
	if err != nil || l == nil {
		return err
	}
	if l.State != gatelatch.Pending {
		return o.takeBack(tx, m, changed)
	}
	rule := o.rule(*l)
	if rule.Remind <= 0 || m.Round >= rule.Reminders {
		return nil
	}
	r := gatelatch.NewMessage(gatelatch.ReminderMessage, m.Round+1, m.Channel, m.Call, m.Sent, m.Sent.Add(rule.Remind))
	_, err = tx.Message(r.ID)
	if errors.Is(err, gatelatch.ErrNotFound) {
		changed[r.ID], err = r, nil
	}
	return err
}

package watch

import (
	"errors"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

func (m *Model) say(text string) { m.news = Line{{text, Bold}} }

// Decided takes the answer to a decision. The next call comes into sight, and
// has to be looked at before a key counts.
func (m *Model) Decided(sent Decide, c api.Call, err error, now time.Time) []Want {
	m.busy = false
	if err != nil {
		return m.failed(sent.Call.ID, err, now)
	}
	wants := m.Put(c, now)
	if m.selected == c.ID {
		wants = m.moveOn(now)
	}
	m.news = Line{{done(sent.Decision), Bold}, {": " + sent.Call.Card.Says + " (" + sent.Call.Card.Subject + ")", 0}}
	return wants
}

// Edited takes the answer to an edit.
func (m *Model) Edited(before, c api.Call, err error, now time.Time) []Want {
	if err != nil {
		return m.failed(before.ID, err, now)
	}
	wants := m.Put(c, now)
	m.say("Saved. It still waits: look at it, then decide.")
	return wants
}

func done(d api.Decision) string {
	switch {
	case d.Remember != nil:
		return "Allowed, and remembered " + d.Remember.Match
	case len(d.Answers) > 0:
		return "Answered"
	case d.State == allowed:
		return "Allowed once"
	case d.Interrupt:
		return "Denied, and the agent stopped"
	case d.Reply:
		return "Replied"
	}
	return "Denied"
}

// failed says why nothing was sent; the call is looked at again.
func (m *Model) failed(id string, err error, now time.Time) []Want {
	m.since = now
	m.say(whyNot(err))
	if errors.Is(err, gatelatch.ErrNotFound) {
		return m.Drop(id, now)
	}
	if !errors.Is(err, client.ErrUnreachable) {
		return []Want{Look{id}}
	}
	return nil
}

func whyNot(err error) string {
	var r *api.RemoteError
	switch {
	case errors.Is(err, gatelatch.ErrSettled):
		if errors.As(err, &r) && r.Body.Decided != nil {
			return "Already decided by " + nameOf(r.Body.Decided.By) + " as " + r.Body.Decided.State + "."
		}
		return "Already decided."
	case errors.Is(err, gatelatch.ErrChanged):
		return "Not sent: the call changed. Look at it again."
	case errors.Is(err, gatelatch.ErrPaused):
		return `Not sent: everything is stopped. Resume with "gatelatch unpause".`
	case errors.Is(err, gatelatch.ErrNotFound):
		return "Not sent: this call is gone."
	case errors.Is(err, client.ErrUnreachable):
		return "Not sent: the gateway does not answer. The call stays here; try again."
	}
	text := "Not sent: " + err.Error()
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		text += "; " + h.Hint()
	}
	return strings.TrimSuffix(text, ".") + "."
}

// outcome is how a settled call is told.
func outcome(c api.Call) string {
	d := c.Decided
	switch {
	case d == nil:
		return c.State
	case d.By.Kind == string(gatelatch.ClockActor):
		return c.State + ", nobody decided in time"
	}
	return c.State + " by " + nameOf(d.By)
}

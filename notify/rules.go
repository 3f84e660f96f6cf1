package notify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// A Rule says who is told of which calls, and when. The first that fits holds.
type Rule struct {
	Agent   string // names with * for anything; "" is any
	Tool    string
	Project string // the whole path
	Risk    []Risk
	To      []string // channels; none is nobody

	After     time.Duration // how long a call waits before anybody is told
	Remind    time.Duration // after which it is told again; 0 is never
	Reminders int           // at most
	Quiet     Quiet         // what comes then is told afterwards
}

func (r *Rule) fits(l gatelatch.Listed) bool {
	return (r.Agent == "" || like(r.Agent, l.Session.Name) || like(r.Agent, l.Batch.AgentName)) &&
		(r.Tool == "" || like(r.Tool, l.Tool)) &&
		(r.Project == "" || like(r.Project, l.Session.Project)) &&
		(len(r.Risk) == 0 || slices.Contains(r.Risk, RiskOf(l.Call)))
}

// like reports whether s is pattern, in which * is anything.
func like(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, last)
}

// rule returns the first that fits. Without rules every channel is told at
// once; with rules that don't fit, nobody is.
func (o *Outbox) rule(l gatelatch.Listed) *Rule {
	if len(o.Rules) == 0 {
		all := &Rule{}
		for _, t := range o.Targets {
			all.To = append(all.To, t.Name)
		}
		return all
	}
	for i := range o.Rules {
		if o.Rules[i].fits(l) {
			return &o.Rules[i]
		}
	}
	return &Rule{}
}

// Quiet is a time of day at which nobody is told anything. It may go over
// midnight; the zero value is never.
type Quiet struct{ From, To time.Duration }

// ParseQuiet reads "22:00-07:00".
func ParseQuiet(s string) (q Quiet, err error) {
	if s == "" {
		return q, nil
	}
	from, to, ok := strings.Cut(s, "-")
	if !ok {
		return q, errors.New(`quiet hours are of the form "22:00-07:00"`)
	}
	if q.From, err = timeOfDay(from); err == nil {
		q.To, err = timeOfDay(to)
	}
	if err == nil && q.From == q.To {
		err = errors.New("quiet hours that last all day tell nobody")
	}
	return q, err
}

func timeOfDay(s string) (time.Duration, error) {
	t, err := time.Parse("15:04", strings.TrimSpace(s))
	if err != nil {
		return 0, fmt.Errorf("%q is no time of day such as 07:00", s)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// until returns when the quiet that holds at t ends, or t.
func (q Quiet) until(t time.Time) time.Time {
	if q.From == q.To {
		return t
	}
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
	at := t.Sub(midnight)
	end := time.Date(t.Year(), t.Month(), t.Day(), 0, int(q.To/time.Minute), 0, 0, t.Location())
	tomorrow := time.Date(t.Year(), t.Month(), t.Day()+1, 0, int(q.To/time.Minute), 0, 0, t.Location())
	switch {
	case q.From < q.To && at >= q.From && at < q.To:
		return end
	case q.From > q.To && at >= q.From:
		return tomorrow
	case q.From > q.To && at < q.To:
		return end
	}
	return t
}

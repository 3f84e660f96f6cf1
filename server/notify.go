package server

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/notify"
	"github.com/gatelatch/gatelatch/render"
)

// lookTime is how long a page counts as looked at after it said so.
const lookTime = 45 * time.Second

// glance is when a page was last looked at.
type glance struct{ at atomic.Int64 }

func (g *glance) now()        { g.at.Store(time.Now().UnixNano()) }
func (g *glance) fresh() bool { return time.Since(time.Unix(0, g.at.Load())) < lookTime }

// Looking reports whether somebody looks at the page.
func (s *Server) Looking() bool { return s.looked.fresh() }

// Silent reports whether nobody is told of a call who does not look at the page.
func (s *Server) Silent() bool {
	return (s.opt.Notify == nil || len(s.opt.Notify.Targets) == 0) && (s.opt.Push == nil || len(s.opt.Push.Subscriptions()) == 0)
}

func look(s *Server, _ *request, _ api.None) (api.None, error) {
	s.looked.now()
	return api.None{}, nil
}

func (s *Server) outbox() (*notify.Outbox, error) {
	if s.opt.Notify == nil || len(s.opt.Notify.Targets) == 0 {
		return nil, invalid(errors.New(`no channel is configured: name one under "notify" in config.yaml, or let your browser show messages, on the page`))
	}
	return s.opt.Notify, nil
}

func notifications(s *Server, q *request) (api.Notifications, error) {
	out := api.Notifications{Channels: []api.Channel{}, Messages: []api.Message{}}
	if s.opt.Push != nil {
		out.Browsers = len(s.opt.Push.Subscriptions())
	}
	if s.opt.Notify == nil {
		return out, nil
	}
	ms, err := s.opt.Notify.Messages(q.Context())
	if err != nil {
		return out, err
	}
	for _, t := range s.opt.Notify.Targets {
		out.Channels = append(out.Channels, viewChannel(t, ms))
	}
	for _, m := range ms {
		out.Messages = append(out.Messages, api.Message{
			ID: m.ID, Kind: string(m.Kind), Round: m.Round, Channel: m.Channel, Call: m.Call, State: string(m.State), At: m.At,
			Due: timeOrNil(m.Due), Sent: timeOrNil(m.Sent), Tries: m.Tries, Error: render.OneLine(m.Error),
		})
	}
	return out, nil
}

func viewChannel(t *notify.Target, ms []*gatelatch.Message) api.Channel {
	c := api.Channel{Name: t.Name, Type: t.Type, Buttons: t.Buttons, Input: t.Input}
	for _, m := range ms {
		switch {
		case m.Channel != t.Name:
		case m.State == gatelatch.MessageWaiting:
			c.Waiting++
		case m.State == gatelatch.MessageDead:
			c.Dead++
		case m.State == gatelatch.MessageSent && (c.Sent == nil || m.Sent.After(*c.Sent)):
			c.Sent = timeOrNil(m.Sent)
		}
	}
	return c
}

func tryChannels(s *Server, q *request, in api.TryChannels) (api.TriedChannels, error) {
	o, err := s.outbox()
	if err != nil {
		return api.TriedChannels{}, err
	}
	trials, err := o.Try(q.Context(), in.Channel)
	out := api.TriedChannels{Tried: []api.TriedChannel{}}
	for _, t := range trials {
		v := api.TriedChannel{Channel: t.Channel, Type: t.Type, OK: t.Err == nil, Millis: t.Took.Milliseconds()}
		if t.Err != nil {
			v.Error = render.OneLine(t.Err.Error())
		}
		out.Tried = append(out.Tried, v)
	}
	return out, err
}

// press decides for who holds the secret of a button. What it was for, and who
// that is, is on the server's record.
func press(s *Server, q *request, in api.Press) (api.Pressed, error) {
	o, err := s.outbox()
	if err != nil {
		return api.Pressed{}, gatelatch.ErrNotFound
	}
	c, err := o.Press(q.Context(), s.opt.Gate, in.Token)
	if errors.Is(err, gatelatch.ErrNotFound) {
		err = s.opt.Auth.Wrong(from(q.Request), err)
	}
	if err != nil {
		return api.Pressed{}, err
	}
	return api.Pressed{Call: c.ID, State: string(c.State)}, nil
}

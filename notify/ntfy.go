package notify

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// ntfyMessageSize is in bytes: servers refuse more than 4,096, or make a file of it.
const ntfyMessageSize = 4000

// ntfy publishes to a topic of an ntfy server.
type ntfy struct {
	server string // without the topic
	topic  string
	token  string
	// press is where buttons are pressed: an address that phones reach.
	press  string
	client *http.Client
}

type ntfyMessage struct {
	Topic    string       `json:"topic"`
	Title    string       `json:"title"`
	Message  string       `json:"message"`
	Tags     []string     `json:"tags,omitempty"`
	Priority int          `json:"priority,omitempty"`
	Click    string       `json:"click,omitempty"`
	Actions  []ntfyAction `json:"actions,omitempty"`
	// Sequence makes a later message take the place of this one, on servers from
	// 2.16 on; older ones overlook it, and the later one stands beside it.
	Sequence string `json:"sequence_id,omitempty"`
}

type ntfyAction struct {
	Action  string            `json:"action"`
	Label   string            `json:"label"`
	URL     string            `json:"url"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Clear   bool              `json:"clear,omitempty"`
}

// Send implements Channel.
func (c *ntfy) Send(ctx context.Context, n Notice) error {
	m := ntfyMessage{Topic: c.topic, Title: n.Title, Message: n.Text, Click: n.Link, Tags: []string{"gatelatch"}, Sequence: n.Thread}
	if n.Input != "" {
		m.Message += "\n\n" + n.Input
		if len(m.Message) > ntfyMessageSize {
			m.Message = strings.ToValidUTF8(m.Message[:ntfyMessageSize], "") + " […]"
		}
	}
	switch {
	case n.Kind == gatelatch.SettledMessage:
		m.Priority, m.Tags = 1, append(m.Tags, ntfyOutcome(n.Outcome))
	case n.Risk == High:
		m.Priority, m.Tags = 5, append(m.Tags, "rotating_light")
	default:
		m.Priority, m.Tags = 4, append(m.Tags, "hand")
	}
	for _, b := range []struct{ label, secret string }{{"Allow", n.Allow}, {"Deny", n.Deny}} {
		if b.secret == "" {
			continue
		}
		body, err := strictjson.Marshal(map[string]string{"token": b.secret})
		if err != nil {
			return permanent(err)
		}
		m.Actions = append(m.Actions, ntfyAction{
			Action: "http", Label: b.label, URL: c.press, Method: http.MethodPost, Clear: true,
			Headers: map[string]string{"Content-Type": "application/json"}, Body: string(body),
		})
	}
	if n.Call != "" {
		m.Actions = append(m.Actions, ntfyAction{Action: "view", Label: "Open", URL: n.Link})
	}
	return c.publish(ctx, m)
}

func (c *ntfy) publish(ctx context.Context, m ntfyMessage) error {
	body, err := strictjson.Marshal(m)
	if err != nil {
		return permanent(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server, bytes.NewReader(body))
	if err != nil {
		return permanent(errors.New("the address can't be read"))
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return post(c.client, req)
}

func ntfyOutcome(outcome string) string {
	if outcome == string(gatelatch.Allowed) {
		return "white_check_mark"
	}
	return "no_entry"
}

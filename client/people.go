package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/gatelatch/gatelatch/api"
)

// Calls lists what waits, or what is settled, behind a call id.
func (c *Client) Calls(ctx context.Context, state, after string, limit int) (out api.Calls, err error) {
	q := url.Values{"state": {state}}
	if after != "" {
		q.Set("after", after)
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	_, err = c.do(ctx, get, "/v1/calls?"+q.Encode(), nil, &out)
	return out, err
}

// Call returns one call.
func (c *Client) Call(ctx context.Context, id string) (out api.Call, err error) {
	_, err = c.do(ctx, get, "/v1/calls/"+url.PathEscape(id), nil, &out)
	return out, err
}

// Decide settles one call.
func (c *Client) Decide(ctx context.Context, id string, d api.Decision) (out api.Call, err error) {
	_, err = c.do(ctx, post, "/v1/calls/"+url.PathEscape(id)+"/decision", d, &out)
	return out, err
}

// Edit replaces the input of a waiting call, which then has a new digest.
func (c *Client) Edit(ctx context.Context, id string, e api.Edit) (out api.Call, err error) {
	_, err = c.do(ctx, post, "/v1/calls/"+url.PathEscape(id)+"/input", e, &out)
	return out, err
}

// Grants returns what was remembered, all of it or what still holds.
func (c *Client) Grants(ctx context.Context, all bool) (out api.Grants, err error) {
	path := "/v1/grants"
	if all {
		path += "?all=true"
	}
	_, err = c.do(ctx, get, path, nil, &out)
	return out, err
}

// RevokeGrant ends a grant at once.
func (c *Client) RevokeGrant(ctx context.Context, id string) (out api.Grant, err error) {
	_, err = c.do(ctx, post, "/v1/grants/"+url.PathEscape(id)+"/revoke", api.None{}, &out)
	return out, err
}

// Sessions returns those of all agents, the newest first.
func (c *Client) Sessions(ctx context.Context) (out api.Sessions, err error) {
	_, err = c.do(ctx, get, "/v1/sessions", nil, &out)
	return out, err
}

// SetMode chooses the mode of a session.
func (c *Client) SetMode(ctx context.Context, m api.SetMode) (out api.AgentSession, err error) {
	_, err = c.do(ctx, post, "/v1/sessions/mode", m, &out)
	return out, err
}

// Policy returns the rules in force.
func (c *Client) Policy(ctx context.Context) (out api.Policy, err error) {
	_, err = c.do(ctx, get, "/v1/policy", nil, &out)
	return out, err
}

// ApplyPolicy puts rules in force for all gateways of a store.
func (c *Client) ApplyPolicy(ctx context.Context, p api.ApplyPolicy) (out api.Policy, err error) {
	_, err = c.do(ctx, post, "/v1/policy", p, &out)
	return out, err
}

// Status returns what holds for the whole gateway.
func (c *Client) Status(ctx context.Context) (out api.Status, err error) {
	_, err = c.do(ctx, get, "/v1/status", nil, &out)
	return out, err
}

// Pause denies everything until Unpause.
func (c *Client) Pause(ctx context.Context, note string) (out api.Status, err error) {
	_, err = c.do(ctx, post, "/v1/pause", api.PauseRequest{Note: note}, &out)
	return out, err
}

// Unpause ends a pause.
func (c *Client) Unpause(ctx context.Context) (out api.Status, err error) {
	_, err = c.do(ctx, post, "/v1/unpause", api.None{}, &out)
	return out, err
}

// LoginCode returns a link that logs one browser in.
func (c *Client) LoginCode(ctx context.Context) (out api.LoginCode, err error) {
	_, err = c.do(ctx, post, "/v1/login-codes", api.None{}, &out)
	return out, err
}

// Notifications says who is told of calls that wait, and how that goes.
func (c *Client) Notifications(ctx context.Context) (out api.Notifications, err error) {
	_, err = c.do(ctx, get, "/v1/notifications", nil, &out)
	return out, err
}

// TryChannels sends a test by one channel, or by all.
func (c *Client) TryChannels(ctx context.Context, channel string) (out api.TriedChannels, err error) {
	_, err = c.do(ctx, post, "/v1/notifications/test", api.TryChannels{Channel: channel}, &out)
	return out, err
}

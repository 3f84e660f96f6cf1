package client

import (
	"context"

	"github.com/gatelatch/gatelatch/api"
)

// Interrupt ends the turn of a session.
func (c *Client) Interrupt(ctx context.Context, in api.Interrupt) (out api.AgentSession, err error) {
	_, err = c.do(ctx, post, "/v1/sessions/interrupt", in, &out)
	return out, err
}

// FollowInterrupts waits until people have interrupted a session more often
// than known, and returns how often.
func (c *Client) FollowInterrupts(ctx context.Context, session string, known int64) (int64, error) {
	for {
		var out api.FollowedInterrupts
		if _, err := c.do(ctx, post, "/v1/sessions/interrupts", api.FollowInterrupts{Session: session, Known: known}, &out); err != nil {
			return known, err
		}
		if out.Interrupts != known {
			return out.Interrupts, nil
		}
	}
}

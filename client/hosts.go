package client

import (
	"context"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

var (
	_ gatelatch.Host = (*Client)(nil)
	_ gatelatch.Host = (*Patient)(nil)
)

// Ran implements gatelatch.Host.
func (c *Client) Ran(ctx context.Context, r gatelatch.Report) (bool, error) {
	var out api.Reported
	_, err := c.do(ctx, post, "/v1/reports", api.FromReport(r), &out)
	return out.Changed, err
}

// Park implements gatelatch.Host.
func (c *Client) Park(ctx context.Context, batchID string, deferred bool) error {
	_, err := c.do(ctx, post, batchPath(batchID, "/park"), api.Park{Deferred: deferred}, nil)
	return err
}

// Leave implements gatelatch.Host.
func (c *Client) Leave(ctx context.Context, l gatelatch.Leaving) (string, error) {
	var out api.Left
	_, err := c.do(ctx, post, "/v1/sessions/leave", api.Leave(l), &out)
	return out.Said, err
}

// Deferrals returns what waits to be resumed.
func (c *Client) Deferrals(ctx context.Context) (out api.Deferrals, err error) {
	_, err = c.do(ctx, get, "/v1/deferrals", nil, &out)
	return out, err
}

package client

import (
	"context"
	"net/url"

	"github.com/gatelatch/gatelatch/api"
)

// Unmute lets an agent ask again.
func (c *Client) Unmute(ctx context.Context, agent string) (out api.Status, err error) {
	_, err = c.do(ctx, post, "/v1/agents/"+url.PathEscape(agent)+"/unmute", api.None{}, &out)
	return out, err
}

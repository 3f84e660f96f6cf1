package client

import (
	"context"

	"github.com/gatelatch/gatelatch/api"
)

// Tools asks which of an agent's tools it may use.
func (c *Client) Tools(ctx context.Context, r api.ToolsRequest) (out api.Tools, err error) {
	_, err = c.do(ctx, post, "/v1/tools", r, &out)
	return out, err
}

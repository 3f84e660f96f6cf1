package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/gatelatch/gatelatch/api"
)

// Rows lists what waits in short, behind a call id. Nobody can decide on a row:
// read the call first.
func (c *Client) Rows(ctx context.Context, after string, limit int) (out api.Calls, err error) {
	q := url.Values{"state": {"pending"}, "brief": {"true"}, "limit": {strconv.Itoa(limit)}}
	if after != "" {
		q.Set("after", after)
	}
	_, err = c.do(ctx, get, "/v1/calls?"+q.Encode(), nil, &out)
	return out, err
}

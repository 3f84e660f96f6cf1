package client

import (
	"context"
	"net/url"

	"github.com/gatelatch/gatelatch/api"
)

// Passkeys lists what signs for people, and what needs it.
func (c *Client) Passkeys(ctx context.Context) (out api.Passkeys, err error) {
	_, err = c.do(ctx, get, "/v1/passkeys", nil, &out)
	return out, err
}

// RemovePasskey ends a passkey.
func (c *Client) RemovePasskey(ctx context.Context, id string) (out api.Passkey, err error) {
	_, err = c.do(ctx, post, "/v1/passkeys/"+url.PathEscape(id)+"/remove", api.None{}, &out)
	return out, err
}

package client

import (
	"context"
	"net/url"

	"github.com/gatelatch/gatelatch/api"
)

// Keys lists what lets somebody in, with what once did if all.
func (c *Client) Keys(ctx context.Context, all bool) (out api.Keys, err error) {
	path := "/v1/keys"
	if all {
		path += "?all=true"
	}
	_, err = c.do(ctx, get, path, nil, &out)
	return out, err
}

// AddKey makes a key.
func (c *Client) AddKey(ctx context.Context, k api.AddKey) (out api.MadeKey, err error) {
	_, err = c.do(ctx, post, "/v1/keys", k, &out)
	return out, err
}

// RotateKey gives a key another secret, and ends the one it had.
func (c *Client) RotateKey(ctx context.Context, id string) (out api.MadeKey, err error) {
	_, err = c.do(ctx, post, "/v1/keys/"+url.PathEscape(id)+"/rotate", api.None{}, &out)
	return out, err
}

// RevokeKey ends a key at once, with the browsers that it let in.
func (c *Client) RevokeKey(ctx context.Context, id string) (out api.Key, err error) {
	_, err = c.do(ctx, post, "/v1/keys/"+url.PathEscape(id)+"/revoke", api.None{}, &out)
	return out, err
}

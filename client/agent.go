package client

import (
	"context"
	"net/url"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

var _ gatelatch.Service = (*Client)(nil)

// Propose implements gatelatch.Service.
func (c *Client) Propose(ctx context.Context, p gatelatch.Proposal) (*gatelatch.Batch, error) {
	var b api.Batch
	if _, err := c.do(ctx, post, "/v1/batches", api.FromProposal(p), &b); err != nil {
		return nil, err
	}
	return b.Domain(p.Holder)
}

// Await implements gatelatch.Service. It asks as often as it takes; a gateway
// that goes away is the caller's business.
func (c *Client) Await(ctx context.Context, batchID, holder string) (*gatelatch.Batch, error) {
	for {
		var b api.Batch
		status, err := c.do(ctx, post, "/v1/batches/"+url.PathEscape(batchID)+"/await", api.Await{Holder: holder}, &b)
		if err != nil {
			return nil, err
		}
		if status == statusOK {
			return b.Domain(holder)
		}
	}
}

// Withdraw implements gatelatch.Service.
func (c *Client) Withdraw(ctx context.Context, batchID, why string) error {
	_, err := c.do(ctx, post, "/v1/batches/"+url.PathEscape(batchID)+"/withdraw", api.Withdraw{Why: why}, nil)
	return err
}

// Report implements gatelatch.Service.
func (c *Client) Report(ctx context.Context, r gatelatch.Report) error {
	_, err := c.do(ctx, post, "/v1/reports", api.Report(r), nil)
	return err
}

// Batch implements gatelatch.Service.
func (c *Client) Batch(ctx context.Context, id string) (*gatelatch.Batch, error) {
	var b api.Batch
	if _, err := c.do(ctx, get, "/v1/batches/"+url.PathEscape(id), nil, &b); err != nil {
		return nil, err
	}
	return b.Domain("")
}

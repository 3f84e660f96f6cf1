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
	return b.Domain(p.Hold.Holder)
}

// Await implements gatelatch.Service. It asks as often as it takes; a gateway
// that goes away is the caller's business.
func (c *Client) Await(ctx context.Context, batchID string, h gatelatch.Hold) (*gatelatch.Batch, error) {
	for {
		var b api.Batch
		status, err := c.do(ctx, post, batchPath(batchID, "/await"), api.Await{Hold: api.FromHold(h)}, &b)
		if err != nil {
			return nil, err
		}
		if status == statusOK {
			return b.Domain(h.Holder)
		}
	}
}

func batchPath(id, then string) string { return "/v1/batches/" + url.PathEscape(id) + then }

// Withdraw implements gatelatch.Service.
func (c *Client) Withdraw(ctx context.Context, batchID, why string) error {
	_, err := c.do(ctx, post, batchPath(batchID, "/withdraw"), api.Withdraw{Why: why}, nil)
	return err
}

// Report implements gatelatch.Service.
func (c *Client) Report(ctx context.Context, r gatelatch.Report) error {
	_, err := c.do(ctx, post, "/v1/reports", api.FromReport(r), nil)
	return err
}

// Batch implements gatelatch.Service.
func (c *Client) Batch(ctx context.Context, id string) (*gatelatch.Batch, error) {
	var b api.Batch
	if _, err := c.do(ctx, get, batchPath(id, ""), nil, &b); err != nil {
		return nil, err
	}
	return b.Domain("")
}

// FollowMode waits until a person chose another mode for a session than known.
func (c *Client) FollowMode(ctx context.Context, session string, known gatelatch.Mode) (gatelatch.Mode, error) {
	for {
		var out api.FollowedMode
		if _, err := c.do(ctx, post, "/v1/sessions/follow", api.FollowMode{Session: session, Mode: string(known)}, &out); err != nil {
			return known, err
		}
		if m := gatelatch.Mode(out.Mode); m != known {
			return m, nil
		}
	}
}

// Consume implements gatelatch.Holder. An answer that was lost may be asked for
// again with the same nonce.
func (c *Client) Consume(ctx context.Context, t gatelatch.Take) (*gatelatch.Call, error) {
	var out api.AgentCall
	in := api.Consume{Call: t.Call, Fence: t.Fence, Digest: t.Digest.String(), Nonce: t.Nonce}
	if _, err := c.do(ctx, post, batchPath(t.Batch, "/consume"), in, &out); err != nil {
		return nil, err
	}
	return out.Domain()
}

// Renew implements gatelatch.Holder.
func (c *Client) Renew(ctx context.Context, batchID string, fence int64) error {
	_, err := c.do(ctx, post, batchPath(batchID, "/renew"), api.Renew{Fence: fence}, nil)
	return err
}

// Extend implements gatelatch.Holder.
func (c *Client) Extend(ctx context.Context, batchID string, fence int64, calls []gatelatch.ProposedCall) (*gatelatch.Batch, error) {
	var b api.Batch
	if _, err := c.do(ctx, post, batchPath(batchID, "/extend"), api.Extend{Fence: fence, Calls: api.FromCalls(calls)}, &b); err != nil {
		return nil, err
	}
	return b.Domain("")
}

// Results implements gatelatch.Holder.
func (c *Client) Results(ctx context.Context, batchID string) ([]gatelatch.Result, error) {
	var out api.Results
	if _, err := c.do(ctx, get, batchPath(batchID, "/results"), nil, &out); err != nil {
		return nil, err
	}
	return out.Domain(), nil
}

// Finish implements gatelatch.Holder.
func (c *Client) Finish(ctx context.Context, f gatelatch.Finish) ([]gatelatch.Result, error) {
	var out api.Results
	if _, err := c.do(ctx, post, batchPath(f.Batch, "/finish"), api.Finish{Fence: f.Fence, Abandon: f.Abandon}, &out); err != nil {
		return nil, err
	}
	return out.Domain(), nil
}

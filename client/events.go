package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gatelatch/gatelatch/api"
)

// ErrCut means that the trail is shorter than what the reader knows of it:
// everything has to be read anew.
var ErrCut = errors.New("the trail is shorter than it was")

// Follow is Events that goes on when a stream breaks or the gateway starts
// again: fn gets each event once, in order, until ctx ends or it returns false.
func (c *Client) Follow(ctx context.Context, after int64, fn func(api.Event) bool) error {
	var wait Backoff
	for {
		err := c.Events(ctx, after, func(e api.Event) bool {
			wait, after = Backoff{}, e.Seq
			return fn(e)
		})
		if !Again(err) {
			return err
		}
		if err := wait.Wait(ctx); err != nil {
			return err
		}
	}
}

// Events calls fn for each event behind a sequence number as it happens, until
// ctx ends, the stream breaks or fn returns false.
func (c *Client) Events(ctx context.Context, after int64, fn func(api.Event) bool) error {
	res, err := c.send(ctx, get, fmt.Sprintf("/v1/events?after=%d", after), nil)
	if err != nil {
		return err
	}
	defer res.close()
	sc := bufio.NewScanner(res.body)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if sc.Text() == "event: resync" {
			return ErrCut
		}
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		var e api.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("the gateway's event can't be read: %w", err)
		}
		if !fn(e) {
			return nil
		}
	}
	if err := sc.Err(); err != nil {
		return unreachable(ctx, err)
	}
	return unreachable(ctx, io.ErrUnexpectedEOF)
}

// Trail returns the audit trail behind a sequence number, at most limit events.
func (c *Client) Trail(ctx context.Context, after int64, limit int) (out api.Trail, err error) {
	_, err = c.do(ctx, get, fmt.Sprintf("/v1/trail?after=%d&limit=%d", after, limit), nil, &out)
	return out, err
}

// AwaitEvent waits for the first event that match accepts.
func (c *Client) AwaitEvent(ctx context.Context, after int64, match func(kind string, body json.RawMessage) bool) error {
	return c.Events(ctx, after, func(e api.Event) bool { return !match(e.Kind, e.Body) })
}

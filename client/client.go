// Package client speaks the gateway's API: as an agent it is a
// gatelatch.Service, as a person it lists, decides and pauses. It needs the
// standard library only, because the hook is built from it.
package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// ErrUnreachable means that no gateway answered.
var ErrUnreachable = errors.New("cannot reach the gateway")

const maxAnswer = 64 << 20

// Statuses and methods, by number and name: net/http is not linked here.
const (
	statusOK          = 200
	statusAccepted    = 202
	statusRefused     = 400 // or more
	statusUnavailable = 503

	get  = "GET"
	post = "POST"
)

// Client talks to one gateway with one key.
type Client struct {
	dir    statedir.Dir
	key    string
	socket func(statedir.Gateway) string
}

// ForAgents returns a client that can only ask, by the key and socket of the
// state directory.
func ForAgents[S ~string](stateDir S) (*Client, error) {
	dir := statedir.Dir(stateDir)
	return open(dir, dir.AgentKey(), func(g statedir.Gateway) string { return g.AgentSocket })
}

// ForPeople returns a client that can decide.
func ForPeople[S ~string](stateDir S) (*Client, error) { return ForPerson(stateDir, "") }

// ForPerson returns a client with the key in a file, which may do what that
// key's role may; "" is the one in the state directory.
func ForPerson[S ~string](stateDir S, keyFile string) (*Client, error) {
	dir := statedir.Dir(stateDir)
	return open(dir, cmp.Or(keyFile, dir.ApproverKey()), func(g statedir.Gateway) string { return g.ApproverSocket })
}

// State is the directory that the client found its gateway by.
func (c *Client) State() statedir.Dir { return c.dir }

func open(dir statedir.Dir, keyFile string, socket func(statedir.Gateway) string) (*Client, error) {
	key, err := statedir.ReadKey(keyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: none has run on %s", ErrUnreachable, dir)
	case err != nil:
		return nil, err
	}
	return &Client{dir: dir, key: key, socket: socket}, nil
}

// do sends one request. in and out may be nil. It returns the status of a
// success; any other answer is a *api.RemoteError.
func (c *Client) do(ctx context.Context, method, path string, in, out any) (int, error) {
	res, err := c.send(ctx, method, path, in)
	if err != nil {
		return 0, err
	}
	defer res.close()
	raw, err := io.ReadAll(io.LimitReader(res.body, maxAnswer))
	if err != nil {
		return 0, unreachable(ctx, err)
	}
	if out == nil {
		return res.status, nil
	}
	// A connection that broke in the middle leaves half an answer.
	if err := json.Unmarshal(raw, out); err != nil {
		return 0, unreachable(ctx, fmt.Errorf("the answer can't be read: %w", err))
	}
	return res.status, nil
}

// send returns the answer to a request if it is a success.
func (c *Client) send(ctx context.Context, method, path string, in any) (*response, error) {
	var body []byte
	if in != nil {
		var err error
		if body, err = strictjson.Marshal(in); err != nil {
			return nil, err
		}
	}
	res, err := c.roundTrip(ctx, method, path, body)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if res.status == statusOK || res.status == statusAccepted {
		return res, nil
	}
	defer res.close()
	raw, err := io.ReadAll(io.LimitReader(res.body, maxAnswer))
	refused := remoteError(res.status, raw)
	// Who had not heard all ends the connection hard, behind its whole answer.
	if whole := new(api.RemoteError); err != nil && !errors.As(refused, &whole) {
		return nil, unreachable(ctx, err)
	}
	return nil, refused
}

func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

func remoteError(status int, raw []byte) error {
	var body api.Problem
	if err := json.Unmarshal(raw, &body); err != nil || body.Code == "" {
		return fmt.Errorf("the gateway answered %d without a reason", status)
	}
	return &api.RemoteError{Status: status, Body: body}
}

// Again reports whether the same request may succeed later: the gateway is
// down, stopping or overloaded.
func Again(err error) bool {
	var r *api.RemoteError
	return errors.Is(err, ErrUnreachable) || errors.As(err, &r) && r.Status == statusUnavailable
}

// Backoff waits between tries: longer each time, never the same for all.
type Backoff struct{ n int }

// Wait waits for the next try, or until ctx ends.
func (b *Backoff) Wait(ctx context.Context) error {
	const first, most = 50 * time.Millisecond, 2 * time.Second
	d := min(most, first<<min(b.n, 10))
	b.n++
	d = d/2 + rand.N(d/2+1) //nolint:gosec // jitter, not a secret
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

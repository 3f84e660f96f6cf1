// Package approval is the smallest way to ask: one tool, one input, one answer.
// It is for people who embed Gatelatch and run one call at a time; an agent
// that runs several calls of one message uses gatelatch.RunBatch.
package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
)

// Status is how a request ended. The zero value is Denied.
type Status uint8

// Statuses. Only Approved lets the tool run.
const (
	Denied Status = iota
	Approved
	TimedOut // nobody decided within the limit
	Pending  // the caller stopped waiting; asking again with the same id goes on
)

// String names the status.
func (s Status) String() string {
	switch s {
	case Approved:
		return "approved"
	case TimedOut:
		return "timed out"
	case Pending:
		return "pending"
	default:
		return "denied"
	}
}

// A Request is one call of a tool.
type Request struct {
	Tool   string
	Input  []byte // JSON
	CallID string // asking again with the same id is the same request
	Dir    string
}

// An Answer says whether the tool may run. When it is approved, it runs with
// exactly this input, once.
type Answer struct {
	Status Status
	Reason string // for the model, when it may not run
	Input  []byte
}

// Service asks for approval. Whatever goes wrong is an error with an answer
// that does not approve.
type Service interface {
	RequestApproval(ctx context.Context, r Request) (Answer, error)
}

// Gate asks a gateway.
type Gate struct {
	Service gatelatch.Service
	Session gatelatch.SessionInfo
	Limit   time.Duration // how long a person has; 0 is for ever
}

var _ Service = (*Gate)(nil)

// RequestApproval implements Service. A request without a call id is refused.
func (g *Gate) RequestApproval(ctx context.Context, r Request) (Answer, error) {
	if r.CallID == "" {
		return Answer{Reason: "The request has no call id, so it was denied."}, fmt.Errorf("a request needs a call id: %w", gatelatch.ErrInvalid)
	}
	hold := gatelatch.Hold{Holder: id.New("hol"), Lease: gatelatch.MaxLease, Consume: true}
	b, err := g.Service.Propose(ctx, gatelatch.Proposal{
		Session: g.Session, Message: r.CallID, Hold: hold, Limit: g.Limit,
		Calls: []gatelatch.ProposedCall{{Ref: r.CallID, Kind: gatelatch.Permission, Tool: r.Tool, Input: r.Input, Dir: r.Dir}},
	})
	if err == nil && !b.Held() {
		b, err = g.Service.Await(ctx, b.ID, hold)
	}
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return Answer{Status: Pending, Reason: "Nobody has decided yet, so the request was denied. It may be asked again."}, err
	case err != nil:
		return Answer{Reason: "The request could not be decided, so it was denied."}, err
	}
	return answer(b), nil
}

func answer(b *gatelatch.Batch) Answer {
	c := b.Calls[0]
	switch {
	case c.State == gatelatch.Allowed && c.Consumed != nil:
		return Answer{Status: Approved, Input: c.Input}
	case c.State == gatelatch.Expired:
		return Answer{Status: TimedOut, Reason: c.Answer()}
	}
	return Answer{Reason: c.Answer()}
}

// Auto approves everything that has a call id, without asking anybody and
// without writing anything down. It is for tests and for programs that say so
// aloud; what has no id goes to Else, or is denied.
type Auto struct {
	Else Service
}

var _ Service = Auto{}

// RequestApproval implements Service.
func (a Auto) RequestApproval(ctx context.Context, r Request) (Answer, error) {
	switch {
	case r.CallID != "" && r.Tool != "":
		return Answer{Status: Approved, Input: r.Input}, nil
	case a.Else != nil:
		return a.Else.RequestApproval(ctx, r)
	}
	return Answer{Reason: "The request has no call id, so it was denied."}, fmt.Errorf("a request needs a call id: %w", gatelatch.ErrInvalid)
}

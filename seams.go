package gatelatch

import (
	"context"
	"encoding/json"
	"time"
)

// Policy judges a call by its effective input. It returns no error: what it
// can't judge it does not allow, and says so in the verdict.
type Policy interface {
	Judge(ctx context.Context, c *Call, s *Session) Verdict
}

// A Hook sees a call before policy does. It may block the call or replace its
// input; it can never allow. An error blocks.
type Hook interface {
	Name() string
	Before(ctx context.Context, c *Call, s *Session) (HookResult, error)
}

// A HookResult is what a before-hook wants. The zero value wants nothing.
type HookResult struct {
	Block  bool
	Reason string
	Input  json.RawMessage // replaces the input when set
}

// Service is what an agent's adapter needs. It is bound to one principal, so
// nothing in a request says who asks: [Gate.As] gives it in this process,
// client.Client over the API.
type Service interface {
	// Propose judges the calls and saves the batch. When it returns, the batch
	// is durable; it may be ready at once.
	Propose(ctx context.Context, p Proposal) (*Batch, error)
	// Await returns the batch once every call is settled, opened for holder.
	Await(ctx context.Context, batchID, holder string) (*Batch, error)
	// Withdraw takes back what still waits.
	Withdraw(ctx context.Context, batchID, why string) error
	// Report tells how a call went.
	Report(ctx context.Context, r Report) error
	// Batch returns one batch of the agent's own.
	Batch(ctx context.Context, id string) (*Batch, error)
}

// Approver is what people's tools need.
type Approver interface {
	// Decide settles one waiting call. The first decision wins.
	Decide(ctx context.Context, callID string, d Decision) (*Batch, error)
	// List returns calls, what waits or what is settled.
	List(ctx context.Context, q Query) (Page, error)
	// Events returns the trail behind a sequence number.
	Events(ctx context.Context, after Seq, limit int) ([]Event, error)
}

// A Proposal is what an agent wants to do: the calls of one model message.
type Proposal struct {
	Session SessionInfo
	Message string // proposing the same message again gives the same batch
	Calls   []ProposedCall
	Context Context
	// Pair, for a host that repeats a call without its id, is what names the
	// turn: a batch of the same session, turn and call that nobody has taken
	// yet is this one.
	Pair string
	// Repeats says that this is such a repetition: look for the batch first.
	Repeats bool
	// Holder opens the batch in the same commit if nothing waits.
	Holder string
	// Limit, if set, is how long the calls may wait before they expire.
	Limit time.Duration
}

// SessionInfo is what an adapter knows about its agent's session.
type SessionInfo struct {
	ID, Name, Project, Mode, Host string
}

// A ProposedCall is one call as the agent sent it.
type ProposedCall struct {
	Ref   string
	Kind  Kind
	Tool  string
	Input []byte
	Dir   string
	Claim string
}

// A Report names a call by its session and ref, as the agent knows it.
type Report struct {
	Session, Ref string
	OK           bool
}

package gatelatch

import (
	"context"
	"encoding/json"
	"time"
)

// Policy judges a call by its effective input. It returns no error: what it
// can't judge it does not allow, and says so in the verdict.
type Policy interface {
	// Judge gives the verdict. grants are those that are good and reach the
	// session; one that allowed the call is named in the verdict. A grant beats
	// only that no rule speaks: never a rule that asks or denies.
	Judge(ctx context.Context, c *Call, s *Session, grants []*Grant) Verdict
	// Remember returns the narrowest matcher that covers the call within
	// scope, or why none may be remembered.
	Remember(c *Call, s *Session, scope Scope) (match string, err error)
	// Covers checks a matcher, perhaps edited, before it is remembered: it must
	// cover the call, and be nothing that lets in more than it says.
	Covers(match string, c *Call, s *Session, scope Scope) error
}

// Offering is a Policy that has more to remember than the narrowest matcher.
type Offering interface {
	// Offers returns matchers that cover the call within scope, what Remember
	// returns first. Each of them passes Covers.
	Offers(c *Call, s *Session, scope Scope) []Offer
}

// An Offer is a matcher that could be remembered.
type Offer struct {
	Match string
	Also  []string // some of what it would allow that is worth a thought
}

// Moding is a Policy whose rules give sessions a mode.
type Moding interface {
	// ModeOf returns the mode of a session for which nobody chose one, and
	// where it is written, "" if nowhere.
	ModeOf(s *Session) (mode Mode, source string)
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

// An AfterHook is told how a call went, once that is durable: the call carries
// its effective input and its outcome. Nobody waits for it, and its error is
// only logged.
type AfterHook interface {
	Name() string
	After(ctx context.Context, c *Call, s *Session) error
}

// Service is what an agent's adapter needs. It is bound to one principal, so
// nothing in a request says who asks: [Gate.As] gives it in this process,
// client.Client over the API.
type Service interface {
	// Propose judges the calls and saves the batch. When it returns, the batch
	// is durable; it may be ready at once.
	Propose(ctx context.Context, p Proposal) (*Batch, error)
	// Await returns the batch once every call is settled, opened as h says.
	// ErrOpened means that somebody else runs it.
	Await(ctx context.Context, batchID string, h Hold) (*Batch, error)
	// Withdraw takes back what still waits.
	Withdraw(ctx context.Context, batchID, why string) error
	// Batch returns one batch of the agent's own.
	Batch(ctx context.Context, id string) (*Batch, error)
	// Report tells how a call went. When it returns, the result is durable.
	Report(ctx context.Context, r Report) error
	Holder
}

// Holder is what an agent needs that runs the calls of a batch itself, one
// after the other. RunBatch does it all.
type Holder interface {
	// Consume uses the allow of one call: only then may it run, with the input
	// that comes back.
	Consume(ctx context.Context, t Take) (*Call, error)
	// Renew keeps the batch for another lease.
	Renew(ctx context.Context, batchID string, fence int64) error
	// Extend proposes calls that turned out to need permission while the
	// batch was running. It waits again, and has to be awaited again.
	Extend(ctx context.Context, batchID string, fence int64, calls []ProposedCall) (*Batch, error)
	// Finish returns the results in order, all durable. Only then may the
	// model go on. Abandon gives up what has not begun.
	Finish(ctx context.Context, f Finish) ([]Result, error)
	// Results returns what the calls came to so far, for who comes back to a
	// batch that is finished.
	Results(ctx context.Context, batchID string) ([]Result, error)
}

// Host is what an adapter needs beside Service whose host runs calls by itself,
// asks with one process for each and may stop waiting for an answer.
type Host interface {
	Service
	// Ran is Report for such a host. It says whether the call was allowed with
	// another input than the agent's.
	Ran(ctx context.Context, r Report) (changed bool, err error)
	// Park says that nobody waits for the answer at present, but that the calls
	// still want one: the same call asked again in the session takes it over,
	// and so does the same message. Deferred is ErrConflict while another
	// deferral of the session is open. ErrSettled means: take the answer.
	Park(ctx context.Context, batchID string, deferred bool) error
	// Leave takes back what still waits in a session, because the turn it came
	// from is over. What is parked stays. If it is left for a new prompt, it
	// returns what a person said when they ended the turn before.
	Leave(ctx context.Context, l Leaving) (said string, err error)
}

// Leaving says whose turn is over.
type Leaving struct {
	Session  string
	Subagent string // its id; "" is the main agent
	All      bool   // everybody: the session is over
	Prompt   bool   // for a new prompt
	Why      string
}

// Approver is what people's tools need.
type Approver interface {
	// Decide settles one waiting call. The first decision wins.
	Decide(ctx context.Context, callID string, d Decision) (*Batch, error)
	// Edit replaces the input of a waiting call that was shown with digest
	// from. It is judged again, and has to be shown and decided again.
	Edit(ctx context.Context, callID string, from Sum, input []byte) (*Batch, error)
	// Grants returns what was remembered, the newest first.
	Grants(ctx context.Context, live bool, limit int) ([]*Grant, error)
	// RevokeGrant ends a grant at once, also for what it allowed and nobody
	// has consumed.
	RevokeGrant(ctx context.Context, id string) (*Grant, error)
	// Sessions returns the newest first.
	Sessions(ctx context.Context, limit int) ([]*Session, error)
	// SetMode chooses the mode of a session. What waits in it is judged again;
	// what the old mode allowed and nobody has consumed is taken back.
	SetMode(ctx context.Context, agent, session string, m ModeTerms) (*Session, error)
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
	// Subagent is the id of the one that asks, if it is not the main agent.
	Subagent string
	// Pair, for a host that repeats a call without its id, is what names the
	// turn: a batch of the same session, turn and call that nobody has taken
	// yet is this one.
	Pair string
	// Repeats says that this is such a repetition: look for the batch first.
	Repeats bool
	// Hold, if it has a holder, opens the batch in the same commit if nothing
	// waits.
	Hold Hold
	// Limit, if set, is how long the calls may wait before they expire.
	Limit time.Duration
}

// SessionInfo is what an adapter knows about its agent's session.
type SessionInfo struct {
	ID, Name, Project, Mode, Host string
	Transcript                    string // the file that its host writes, if there is one
}

// A ProposedCall is one call as the agent sent it.
type ProposedCall struct {
	Ref   string
	Kind  Kind
	Tool  string
	Input []byte
	Dir   string
	Claim string
	// Suggests are matchers that the agent would like to be remembered. They
	// are offered only as far as the policy would remember them.
	Suggests []string
}

// A Report tells how a call went. A holder names it by batch, call and fence;
// a host that runs calls by itself, by session and ref.
type Report struct {
	Session, Ref string

	Batch, Call string
	Fence       int64

	OK     bool
	Result []byte // what the tool gave back, if it is to be kept
}

// Finish ends a batch.
type Finish struct {
	Batch   string
	Fence   int64
	Abandon bool
}

// A Result is what one call of a batch came to. Output is what the tool gave
// back or, if the call did not run, the text for the model.
type Result struct {
	Call    string
	Ref     string
	State   State
	Outcome OutcomeKind // "" if the call was not run
	Output  []byte
	// Interrupt says that a person wants the agent's turn to end here. Calls
	// of the batch that were allowed may still have run.
	Interrupt bool
}

// Package ask asks about one call at a time, for protocols of others that know
// no batches. It keeps nothing that matters: the question and its decision are
// in the gateway, and whoever asks the same again finds them there.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/claudecode"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// ErrCancelled is the cause of a context whose agent took its question back.
// Any other end of a context leaves the question where it is.
var ErrCancelled = errors.New("the agent stopped asking")

const (
	byeTime = 2 * time.Second // to take a question back
	lease   = 24 * time.Hour  // the host runs the call by itself, and may report it late
)

// A Question is one call that an agent wants to make.
type Question struct {
	Session gatelatch.SessionInfo
	ID      string // the agent's own id for the call; asking again with it is the same question
	Tool    string
	Input   []byte
	Dir     string
	Claim   string
	// Suggests are matchers that the agent would have remembered.
	Suggests []string
	Limit    time.Duration // 0 is for ever
	Context  gatelatch.Context
	// Fixed says that the protocol's answer can't carry an input: a call that
	// was allowed with another one is denied.
	Fixed bool
}

// An Answer is what came of a question. The zero value is a denial.
type Answer struct {
	Allowed   bool
	Input     json.RawMessage // what runs, with the answers to questions in it; set if allowed
	Text      string          // for the model, when the call may not run
	Interrupt bool            // end the agent's turn
	Reply     bool            // Text is an answer to go on with
	Expired   bool
	Answers   map[string]string
	Choice    gatelatch.Choice
	Mode      gatelatch.Mode // with a plan: what the session goes on in
}

// A Desk asks for all agents of a process.
type Desk struct {
	mu   sync.Mutex
	live map[gatelatch.Sum]bool
}

// Ask asks and waits. asked, if not nil, is told once the question is durable.
// An error is never an allow.
//
// A call that is asked again, because a connection was lost or its agent was
// told to ask later, is found by session, tool and input, and gets the decision
// that was made meanwhile. While one waits, another like it is a question of
// its own; one that another process asks takes its place. An allow is for one
// of them.
func (d *Desk) Ask(ctx context.Context, svc gatelatch.Service, q Question, asked func(*gatelatch.Batch) error) (Answer, error) {
	if q.ID == "" {
		return Answer{}, fmt.Errorf("a call needs an id: %w", gatelatch.ErrInvalid)
	}
	input, err := strictjson.Compact(q.Input)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", gatelatch.ErrInvalid, err)
	}
	q.Input = input
	p, leave := d.proposal(q)
	defer leave()
	b, err := svc.Propose(ctx, p)
	if err == nil && asked != nil {
		err = asked(b)
	}
	if err == nil && !b.Held() {
		waiting := b.ID
		if b, err = svc.Await(ctx, waiting, p.Hold); err != nil && errors.Is(context.Cause(ctx), ErrCancelled) {
			bye, stop := context.WithTimeout(context.WithoutCancel(ctx), byeTime)
			defer stop()
			err = errors.Join(ErrCancelled, svc.Withdraw(bye, waiting, ErrCancelled.Error()))
		}
	}
	if err != nil {
		return Answer{}, err
	}
	return answer(ctx, svc, b, func(c *gatelatch.Call) bool { return q.Fixed && string(c.Input) != string(q.Input) })
}

// Wait goes on waiting for a question that was asked before, perhaps by another
// process. svc is the gateway in this one.
func Wait(ctx context.Context, svc *gatelatch.Seat, batchID string) (Answer, error) {
	b, err := svc.Batch(ctx, batchID)
	if err == nil {
		b, err = svc.Await(ctx, batchID, hold(b.Claimed))
	}
	if err != nil {
		return Answer{}, err
	}
	return answer(ctx, svc, b, func(c *gatelatch.Call) bool { return gatelatch.SumOf(c.Input) != c.Proposed })
}

func hold(holder string) gatelatch.Hold {
	return gatelatch.Hold{Holder: holder, Lease: lease, Consume: true}
}

// proposal claims the question as the one that this call is about. The name of
// the holder is the same whoever asks next, unless one like it is asked now.
func (d *Desk) proposal(q Question) (p gatelatch.Proposal, leave func()) {
	same := gatelatch.SumFields("gatelatch.ask.v1", []byte(q.Session.ID), []byte(q.Tool), q.Input, []byte(q.Dir))
	holder := "ask_" + same.String()
	d.mu.Lock()
	defer d.mu.Unlock()
	if leave = func() {}; d.live[same] {
		holder = id.New("ask")
	} else {
		if d.live == nil {
			d.live = map[gatelatch.Sum]bool{}
		}
		d.live[same] = true
		leave = sync.OnceFunc(func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.live, same)
		})
	}
	return gatelatch.Proposal{
		Session: q.Session, Message: q.ID, Context: q.Context, Limit: q.Limit,
		Pair: "ask", Repeats: true,
		Hold: hold(holder),
		Calls: []gatelatch.ProposedCall{{
			Ref: q.ID, Kind: claudecode.Kind(q.Tool), Tool: q.Tool, Input: q.Input, Dir: q.Dir, Claim: q.Claim, Suggests: q.Suggests,
		}},
	}, leave
}

// answer is an allow only for an allowed call of a batch that is ours. changed
// says that the protocol can't carry the input that was allowed.
func answer(ctx context.Context, svc gatelatch.Service, b *gatelatch.Batch, changed func(*gatelatch.Call) bool) (Answer, error) {
	if len(b.Calls) != 1 || !b.Held() {
		return Answer{}, errors.New("the gateway's answer is not about this call")
	}
	c := b.Calls[0]
	d := gatelatch.Decision{}
	if c.Decided != nil {
		d = *c.Decided
	}
	if c.State != gatelatch.Allowed || c.Consumed == nil {
		return Answer{Text: c.Answer(), Interrupt: d.Interrupt, Reply: d.Reply, Expired: c.State == gatelatch.Expired}, nil
	}
	if changed(c) {
		report := gatelatch.Report{Batch: b.ID, Call: c.ID, Fence: b.Opened.Fence, OK: false}
		err := svc.Report(ctx, report)
		return Answer{Reply: true, Text: "This was allowed with another input only. Call it again with " + string(c.Input)}, err
	}
	if c.Outcome != nil { // an allow is used once
		return Answer{Text: "This call has already run, so it does not run again. Ask with another id."}, nil
	}
	input, err := claudecode.Effective(c)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Allowed: true, Input: input, Answers: d.Answers, Choice: d.Choice, Mode: d.Mode}, nil
}

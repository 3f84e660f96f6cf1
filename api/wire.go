package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Domain returns the proposal in the domain's terms.
func (p *Proposal) Domain() gatelatch.Proposal {
	out := gatelatch.Proposal{
		Session: gatelatch.SessionInfo(p.Session),
		Message: p.Message, Context: gatelatch.Context(p.Context),
		Pair: p.Turn, Repeats: p.Repeats, Holder: p.Holder, Limit: time.Duration(p.Limit) * time.Second,
	}
	for _, c := range p.Calls {
		kind := gatelatch.Kind(c.Kind)
		if kind == "" {
			kind = gatelatch.Permission
		}
		out.Calls = append(out.Calls, gatelatch.ProposedCall{Ref: c.Ref, Kind: kind, Tool: c.Tool, Input: c.Input, Dir: c.Dir, Claim: c.Claim})
	}
	return out
}

// FromProposal returns the proposal as it goes over the wire.
func FromProposal(p gatelatch.Proposal) Proposal {
	out := Proposal{
		Session: Session(p.Session), Message: p.Message, Context: Context(p.Context),
		Turn: p.Pair, Repeats: p.Repeats, Holder: p.Holder, Limit: int(p.Limit / time.Second),
	}
	for _, c := range p.Calls {
		out.Calls = append(out.Calls, ProposedCall{Ref: c.Ref, Kind: string(c.Kind), Tool: c.Tool, Input: c.Input, Dir: c.Dir, Claim: c.Claim})
	}
	return out
}

// FromBatch returns the batch as its agent sees it. Only who holds it learns
// that it is open: anybody else would run the calls a second time.
func FromBatch(b *gatelatch.Batch, holder string) Batch {
	out := Batch{ID: b.ID}
	if b.Opened != nil && holder != "" && b.Opened.Holder == holder {
		out.Opened = &Opening{Fence: b.Opened.Fence, At: b.Opened.At}
	}
	for _, c := range b.Calls {
		a := AgentCall{
			ID: c.ID, Ref: c.Ref, Tool: c.Tool, State: string(c.State), Effect: c.Verdict.Effect.String(),
			Input: json.RawMessage(c.Input), Digest: c.Digest.String(), Answer: c.Answer(),
		}
		if c.State == gatelatch.Pending && len(c.Verdict.Reasons) > 0 {
			a.Answer, a.Why = "", c.Verdict.Reasons[0].Message
		}
		if d := c.Decided; d != nil {
			a.Answers, a.Decided = d.Answers, FromDecision(d)
		}
		out.Calls = append(out.Calls, a)
	}
	return out
}

// Domain returns what an agent may know of its batch. holder is the asker's
// own: the wire never carries it. A state it does not know is not settled.
func (b *Batch) Domain(holder string) (*gatelatch.Batch, error) {
	out := &gatelatch.Batch{ID: b.ID}
	if b.Opened != nil {
		out.Opened = &gatelatch.Opening{Holder: holder, Fence: b.Opened.Fence, At: b.Opened.At}
	}
	for _, a := range b.Calls {
		c := &gatelatch.Call{ID: a.ID, Ref: a.Ref, Tool: a.Tool, State: gatelatch.State(a.State), Input: a.Input}
		if err := errors.Join(c.Digest.UnmarshalText([]byte(a.Digest)), c.Verdict.Effect.UnmarshalText([]byte(a.Effect))); err != nil {
			return nil, fmt.Errorf("the gateway's answer can't be read: %w", err)
		}
		if a.Why != "" {
			c.Verdict.Reasons = []gatelatch.Reason{{Effect: c.Verdict.Effect, Message: a.Why}}
		}
		if d := a.Decided; d != nil {
			c.Decided = &gatelatch.Decision{State: gatelatch.State(d.State), At: d.At, Note: d.Note, Digest: c.Digest, Answers: a.Answers,
				By: gatelatch.Actor{Kind: gatelatch.ActorKind(d.By.Kind), ID: d.By.ID, Name: d.By.Name}}
		}
		out.Calls = append(out.Calls, c)
	}
	return out, nil
}

// FromActor returns an actor for the wire.
func FromActor(a gatelatch.Actor) Actor {
	return Actor{Kind: string(a.Kind), ID: a.ID, Name: a.Name}
}

// FromEvent returns an event for the stream.
func FromEvent(e gatelatch.Event) Event {
	return Event{Seq: int64(e.Seq), At: e.At, Kind: string(e.Kind), By: FromActor(e.By), Batch: e.Batch, Call: e.Call, Body: e.Body}
}

// FromDecision returns how a call was settled, or nil.
func FromDecision(d *gatelatch.Decision) *Decided {
	if d == nil {
		return nil
	}
	return &Decided{State: string(d.State), By: FromActor(d.By), At: d.At, Note: d.Note, Answers: d.Answers}
}

package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch"
)

// Domain returns the proposal in the domain's terms.
func (p *Proposal) Domain() gatelatch.Proposal {
	return gatelatch.Proposal{
		Session: gatelatch.SessionInfo(p.Session),
		Message: p.Message, Context: gatelatch.Context(p.Context), Calls: DomainCalls(p.Calls),
		Pair: p.Turn, Subagent: p.Subagent, Repeats: p.Repeats, Hold: p.Hold.Domain(), Limit: seconds(p.Limit),
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// wholeSeconds rounds up: nothing must become none, which means for ever.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// DomainCalls returns proposed calls in the domain's terms.
func DomainCalls(calls []ProposedCall) (out []gatelatch.ProposedCall) {
	for _, c := range calls {
		kind := gatelatch.Kind(c.Kind)
		if kind == "" {
			kind = gatelatch.Permission
		}
		out = append(out, gatelatch.ProposedCall{Ref: c.Ref, Kind: kind, Tool: c.Tool, Input: c.Input, Dir: c.Dir, Claim: c.Claim, Suggests: c.Suggests})
	}
	return out
}

// Domain returns the hold in the domain's terms.
func (h Hold) Domain() gatelatch.Hold {
	return gatelatch.Hold{Holder: h.Holder, Lease: seconds(h.Lease), Consume: h.Consume}
}

// FromHold returns the hold as it goes over the wire.
func FromHold(h gatelatch.Hold) Hold {
	return Hold{Holder: h.Holder, Lease: wholeSeconds(h.Lease), Consume: h.Consume}
}

// FromProposal returns the proposal as it goes over the wire.
func FromProposal(p gatelatch.Proposal) Proposal {
	return Proposal{
		Session: Session(p.Session), Message: p.Message, Context: Context(p.Context), Calls: FromCalls(p.Calls),
		Turn: p.Pair, Subagent: p.Subagent, Repeats: p.Repeats, Hold: FromHold(p.Hold), Limit: wholeSeconds(p.Limit),
	}
}

// FromCalls returns proposed calls as they go over the wire.
func FromCalls(calls []gatelatch.ProposedCall) (out []ProposedCall) {
	for _, c := range calls {
		out = append(out, ProposedCall{Ref: c.Ref, Kind: string(c.Kind), Tool: c.Tool, Input: c.Input, Dir: c.Dir, Claim: c.Claim, Suggests: c.Suggests})
	}
	return out
}

// FromBatch returns the batch as its agent sees it. Only who holds it learns
// that it is open: anybody else would run the calls a second time.
func FromBatch(b *gatelatch.Batch, holder string) Batch {
	out := Batch{ID: b.ID, Phase: b.Phase, Finished: timeOrNil(b.Finished)}
	if b.Held() && holder != "" && b.Opened.Holder == holder {
		o := b.Opened
		out.Opened = &Opening{Fence: o.Fence, Resume: o.Resume, At: o.At, Until: o.Until, Consume: o.All}
	}
	for _, c := range b.Calls {
		out.Calls = append(out.Calls, FromCall(c))
	}
	return out
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// FromCall returns a call as its agent sees it.
func FromCall(c *gatelatch.Call) AgentCall {
	a := AgentCall{
		ID: c.ID, Ref: c.Ref, Phase: c.Phase, Kind: string(c.Kind), Tool: c.Tool, State: string(c.State), Effect: c.Verdict.Effect.String(),
		Input: json.RawMessage(c.Input), Dir: c.Dir, Digest: c.Digest.String(), Answer: c.Answer(), Consumed: c.Consumed != nil,
	}
	if c.State == gatelatch.Pending && len(c.Verdict.Reasons) > 0 {
		a.Answer, a.Why = "", c.Verdict.Reasons[0].Message
	}
	if d := c.Decided; d != nil {
		a.Answers, a.Interrupt, a.Decided = d.Answers, d.Interrupt, FromDecision(d)
	}
	if c.Outcome != nil {
		a.Outcome = string(c.Outcome.Kind)
	}
	return a
}

// Domain returns what an agent may know of its batch. holder is the asker's
// own: the wire never carries it. A state it does not know is not settled.
func (b *Batch) Domain(holder string) (*gatelatch.Batch, error) {
	out := &gatelatch.Batch{ID: b.ID, Phase: b.Phase}
	if b.Finished != nil {
		out.Finished = *b.Finished
	}
	if o := b.Opened; o != nil {
		out.Opened = &gatelatch.Opening{
			Holder: holder, Phase: b.Phase, Fence: o.Fence, Resume: o.Resume, At: o.At, Lease: o.Until.Sub(o.At), Until: o.Until, All: o.Consume,
		}
	}
	for _, a := range b.Calls {
		c, err := a.Domain()
		if err != nil {
			return nil, err
		}
		out.Calls = append(out.Calls, c)
	}
	return out, nil
}

// Domain returns what an agent may know of its call.
func (a *AgentCall) Domain() (*gatelatch.Call, error) {
	c := &gatelatch.Call{
		ID: a.ID, Ref: a.Ref, Phase: a.Phase, Kind: gatelatch.Kind(a.Kind), Tool: a.Tool, State: gatelatch.State(a.State), Input: a.Input, Dir: a.Dir,
	}
	if err := errors.Join(c.Digest.UnmarshalText([]byte(a.Digest)), c.Verdict.Effect.UnmarshalText([]byte(a.Effect))); err != nil {
		return nil, fmt.Errorf("the gateway's answer can't be read: %w", err)
	}
	if a.Why != "" {
		c.Verdict.Reasons = []gatelatch.Reason{{Effect: c.Verdict.Effect, Message: a.Why}}
	}
	if d := a.Decided; d != nil {
		c.Decided = &gatelatch.Decision{
			State: gatelatch.State(d.State), At: d.At, Note: d.Note, Digest: c.Digest, Answers: a.Answers,
			By:     gatelatch.Actor{Kind: gatelatch.ActorKind(d.By.Kind), ID: d.By.ID, Name: d.By.Name},
			Choice: gatelatch.Choice(d.Choice), Mode: gatelatch.Mode(d.Mode), Interrupt: d.Interrupt, Reply: d.Reply, Grant: d.Grant,
		}
	}
	if a.Consumed {
		c.Consumed = &gatelatch.Use{Digest: c.Digest}
	}
	if a.Outcome != "" {
		c.Outcome = &gatelatch.Outcome{Kind: gatelatch.OutcomeKind(a.Outcome)}
	}
	return c, nil
}

// split returns what a tool gave back as text if it is any.
func split(out []byte) (text string, bytes []byte) {
	if utf8.Valid(out) {
		return string(out), nil
	}
	return "", out
}

func joined(text string, bytes []byte) []byte {
	if text != "" {
		return []byte(text)
	}
	return bytes
}

// FromReport returns the report as it goes over the wire.
func FromReport(r gatelatch.Report) Report {
	out := Report{Session: r.Session, Ref: r.Ref, Batch: r.Batch, Call: r.Call, Fence: r.Fence, OK: r.OK}
	out.Text, out.Bytes = split(r.Result)
	return out
}

// Domain returns the report in the domain's terms.
func (r *Report) Domain() gatelatch.Report {
	return gatelatch.Report{Session: r.Session, Ref: r.Ref, Batch: r.Batch, Call: r.Call, Fence: r.Fence, OK: r.OK, Result: joined(r.Text, r.Bytes)}
}

// FromResults returns results for the wire.
func FromResults(rs []gatelatch.Result) Results {
	out := Results{Results: []Result{}}
	for _, r := range rs {
		res := Result{Call: r.Call, Ref: r.Ref, State: string(r.State), Outcome: string(r.Outcome), Interrupt: r.Interrupt}
		res.Text, res.Bytes = split(r.Output)
		out.Results = append(out.Results, res)
	}
	return out
}

// Domain returns results in the domain's terms.
func (rs *Results) Domain() (out []gatelatch.Result) {
	for _, r := range rs.Results {
		out = append(out, gatelatch.Result{
			Call: r.Call, Ref: r.Ref, State: gatelatch.State(r.State), Outcome: gatelatch.OutcomeKind(r.Outcome), Output: joined(r.Text, r.Bytes), Interrupt: r.Interrupt,
		})
	}
	return out
}

// Domain returns a decision in the domain's terms.
func (d *Decision) Domain() (gatelatch.Decision, error) {
	out := gatelatch.Decision{
		State: gatelatch.State(d.State), Note: d.Note, Answers: d.Answers, Choice: gatelatch.Choice(d.Choice), Mode: gatelatch.Mode(d.Mode),
		Interrupt: d.Interrupt, Reply: d.Reply,
	}
	if t := d.Remember; t != nil {
		out.Remember = &gatelatch.Terms{Scope: gatelatch.Scope(t.Scope), Match: t.Match, For: seconds(t.For), Uses: t.Uses}
	}
	return out, out.Digest.UnmarshalText([]byte(d.Digest))
}

// FromActor returns an actor for the wire.
func FromActor(a gatelatch.Actor) Actor {
	return Actor{Kind: string(a.Kind), ID: a.ID, Name: a.Name}
}

// FromEvent returns an event for the wire. One that was damaged in the store
// may be none that JSON can hold; it must then look damaged there, too.
func FromEvent(e gatelatch.Event) Event {
	out := Event{Seq: int64(e.Seq), At: e.At, Kind: string(e.Kind), By: FromActor(e.By), Batch: e.Batch, Call: e.Call, Body: e.Body,
		Prev: e.Prev.String(), Link: e.Link.String()}
	if y := e.At.Year(); y < 0 || y > 9999 {
		out.At = time.Time{}
	}
	var same bytes.Buffer
	if err := json.Compact(&same, e.Body); len(e.Body) > 0 && (err != nil || !bytes.Equal(same.Bytes(), e.Body)) {
		out.Body, _ = json.Marshal(string(e.Body)) //nolint:errchkjson // a string
	}
	return out
}

// Domain returns the event in the domain's terms.
func (e *Event) Domain() (gatelatch.Event, error) {
	out := gatelatch.Event{Seq: gatelatch.Seq(e.Seq), At: e.At, Kind: gatelatch.EventKind(e.Kind), Batch: e.Batch, Call: e.Call, Body: e.Body,
		By: gatelatch.Actor{Kind: gatelatch.ActorKind(e.By.Kind), ID: e.By.ID, Name: e.By.Name}}
	if err := errors.Join(out.Prev.UnmarshalText([]byte(e.Prev)), out.Link.UnmarshalText([]byte(e.Link))); err != nil {
		return out, fmt.Errorf("the gateway's event can't be read: %w", err)
	}
	return out, nil
}

// FromDecision returns how a call was settled, or nil.
func FromDecision(d *gatelatch.Decision) *Decided {
	if d == nil {
		return nil
	}
	return &Decided{
		State: string(d.State), By: FromActor(d.By), At: d.At, Note: d.Note, Answers: d.Answers,
		Choice: string(d.Choice), Mode: string(d.Mode), Interrupt: d.Interrupt, Reply: d.Reply, Grant: d.Grant,
	}
}

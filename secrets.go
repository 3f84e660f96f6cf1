package gatelatch

import (
	"encoding/json"
	"slices"

	"github.com/gatelatch/gatelatch/redact"
)

// Inputs and results lie apart, whole. Everything else that a batch, a session
// or the trail keeps passes here first, whoever said it: see docs/secrets.md.

// mask masks what a proposal says beside its inputs. What it suggests to
// remember must not be a secret at all.
func (p *Proposal) mask() {
	p.Session.Name, p.Session.Host = redact.Text(p.Session.Name), redact.Text(p.Session.Host)
	p.Context = Context{Prompt: redact.Text(p.Context.Prompt), Said: redact.Text(p.Context.Said), Via: redact.Text(p.Context.Via)}
	maskCalls(p.Calls)
}

// maskCalls changes calls that nobody else has.
func maskCalls(calls []ProposedCall) {
	for i := range calls {
		c := &calls[i]
		c.Claim = redact.Text(c.Claim)
		c.Suggests = slices.DeleteFunc(slices.Clone(c.Suggests), redact.Has)
	}
}

// masked returns a verdict that quotes no secrets of the input.
func (v Verdict) masked(input []byte) Verdict {
	known := redact.In(input)
	v.Reasons = slices.Clone(v.Reasons)
	for i := range v.Reasons {
		r := &v.Reasons[i]
		r.Message, r.Part = known.Text(r.Message), known.Text(r.Part)
	}
	v.Errors = maskAll(known, v.Errors)
	if v.Needs != nil {
		n := *v.Needs
		n.Signature, n.Info, n.Paths = known.Text(n.Signature), maskAll(known, n.Info), maskAll(known, n.Paths)
		n.Touches = slices.Clone(n.Touches)
		for i := range n.Touches {
			n.Touches[i].What = known.Text(n.Touches[i].What)
		}
		v.Needs = &n
	}
	return v
}

func maskAll(known redact.Known, texts []string) []string {
	out := slices.Clone(texts)
	for i := range out {
		out[i] = known.Text(out[i])
	}
	return out
}

// mask masks the note of a decision. An answer goes to the agent as it is, so
// it is refused instead; and what is remembered would stand in rules.
func (d *Decision) mask() error {
	d.Note = redact.Text(d.Note)
	for q, a := range d.Answers {
		if redact.Has(q) || redact.Has(a) {
			return invalid("an answer is kept, and this one holds what looks like a secret: answer where the agent finds it, or deny with a reply")
		}
	}
	if d.Remember != nil {
		return rememberable(d.Remember.Match)
	}
	return nil
}

// rememberable refuses matchers that would keep a secret.
func rememberable(match string) error {
	if redact.Has(match) {
		return invalid("this would remember what looks like a secret")
	}
	return nil
}

func maskedBody(body any) json.RawMessage { return redact.JSON(eventBody(body)) }

package memory

import (
	"maps"
	"slices"

	"github.com/gatelatch/gatelatch"
)

// clone copies what a store keeps of a batch: everything but the bytes of
// inputs and results, which lie apart.
func clone(b *gatelatch.Batch) *gatelatch.Batch {
	out := *b
	out.Opened, out.Parked = ptr(b.Opened), ptr(b.Parked)
	out.Calls = make([]*gatelatch.Call, len(b.Calls))
	for i, c := range b.Calls {
		out.Calls[i] = cloneCall(*c)
	}
	return &out
}

func cloneCall(c gatelatch.Call) *gatelatch.Call {
	c.Input, c.Suggests = nil, slices.Clone(c.Suggests)
	c.Verdict.Reasons, c.Verdict.Errors = slices.Clone(c.Verdict.Reasons), slices.Clone(c.Verdict.Errors)
	if n := ptr(c.Verdict.Needs); n != nil {
		n.Info, n.Paths, n.Touches = slices.Clone(n.Info), slices.Clone(n.Paths), slices.Clone(n.Touches)
		c.Verdict.Needs = n
	}
	if c.Decided = ptr(c.Decided); c.Decided != nil {
		c.Decided.Answers, c.Decided.Remember = maps.Clone(c.Decided.Answers), ptr(c.Decided.Remember)
		c.Decided.Signed = nil // stands in the event
	}
	if c.Outcome = ptr(c.Outcome); c.Outcome != nil {
		c.Outcome.Result = nil
	}
	c.Bound = cloneBound(c.Bound)
	c.Edited, c.Consumed = ptr(c.Edited), ptr(c.Consumed)
	return &c
}

func cloneBound(b *gatelatch.Bound) *gatelatch.Bound {
	if b = ptr(b); b != nil {
		b.Files, b.Server = slices.Clone(b.Files), ptr(b.Server)
	}
	return b
}

func cloneGrant(g gatelatch.Grant) *gatelatch.Grant {
	g.RevokedBy, g.Server = ptr(g.RevokedBy), ptr(g.Server)
	return &g
}

func cloneSession(s gatelatch.Session) *gatelatch.Session {
	s.Halt = ptr(s.Halt)
	return &s
}

func cloneKey(k gatelatch.Key) *gatelatch.Key {
	k.Meter.Over, k.Meter.Denied, k.Meter.Sessions = slices.Clone(k.Meter.Over), slices.Clone(k.Meter.Denied), maps.Clone(k.Meter.Sessions)
	if p := ptr(k.Passkey); p != nil {
		p.Credential, p.Public, p.Spent = slices.Clone(p.Credential), slices.Clone(p.Public), slices.Clone(p.Spent)
		k.Passkey = p
	}
	return &k
}

func cloneControl(c gatelatch.Control) *gatelatch.Control {
	c.Muted = maps.Clone(c.Muted)
	return &c
}

func ptr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

package gatelatch

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch/internal/id"
)

// Limits of a proposal. What is larger is refused, never cut.
const (
	MaxCalls  = 64
	MaxInput  = 1 << 20 // unless Gate.MaxInput says otherwise
	MostInput = 8 << 20 // that it may say
	maxName   = 256
	maxPath   = 4096
	maxText   = 16 << 10
	maxHolder = 128

	maxSuggests = 16
)

// maxInputs is how much those of one batch have together: whoever reads a batch
// reads them all.
func (g *Gate) maxInputs() int { return 2 * g.InputLimit() }

// InputLimit is how many bytes an input may have.
func (g *Gate) InputLimit() int { return min(cmp.Or(g.MaxInput, MaxInput), MostInput) }

func (g *Gate) checkProposal(p *Proposal) error {
	switch {
	case p.Session.ID == "":
		return invalid("a proposal names its session")
	case p.Message == "":
		return invalid("a proposal names its message")
	case len(p.Calls) == 0:
		return invalid("a proposal has at least one call")
	case len(p.Calls) > MaxCalls:
		return invalid("a proposal has at most %d calls, got %d", MaxCalls, len(p.Calls))
	case p.Repeats && (p.Pair == "" || p.Hold.Holder == "" || len(p.Calls) != 1):
		return invalid("a repeated call comes alone, with its holder and the turn it belongs to")
	case p.Limit < 0:
		return invalid("the time limit is negative")
	}
	for _, f := range [...]bounded{
		{"session", p.Session.ID, maxName}, {"agent name", p.Session.Name, maxName},
		{"project", p.Session.Project, maxPath}, {"mode", p.Session.Mode, maxName}, {"host", p.Session.Host, maxName}, {"transcript", p.Session.Transcript, maxPath},
		{"message", p.Message, maxName}, {"pair", p.Pair, maxName},
		{"sub-agent", p.Subagent, maxName},
		{"prompt", p.Context.Prompt, maxText}, {"said", p.Context.Said, maxText}, {"via", p.Context.Via, maxText},
	} {
		if err := checkText(f.name, f.text, f.most); err != nil {
			return err
		}
	}
	if p.Hold != (Hold{}) {
		if err := p.Hold.check(); err != nil {
			return err
		}
	}
	return g.checkCalls(p.Calls)
}

func (g *Gate) checkCalls(calls []ProposedCall) error {
	refs, size := make(map[string]bool, len(calls)), 0
	for i := range calls {
		c := &calls[i]
		if size += len(c.Input); size > g.maxInputs() {
			return invalid("the inputs of a batch have at most %d bytes together", g.maxInputs())
		}
		if c.Kind == "" {
			c.Kind = Permission
		}
		if c.Ref != "" && refs[c.Ref] {
			return invalid("two calls have the id %q", c.Ref)
		}
		refs[c.Ref] = true
		if err := g.checkCall(c); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gate) checkCall(c *ProposedCall) error {
	switch {
	case c.Tool == "":
		return invalid("a call names its tool")
	case len(c.Input) > g.InputLimit():
		return invalid("the input of %s has %d bytes, the most is %d", c.Tool, len(c.Input), g.InputLimit())
	case !utf8.Valid(c.Input) || !json.Valid(c.Input):
		return invalid("the input of %s is not JSON", c.Tool)
	case c.Kind != Permission && c.Kind != Question && c.Kind != Plan:
		return invalid("call kind %q is none of permission, question, plan", c.Kind)
	case c.Kind == Question:
		if err := askable(c.Input); err != nil {
			return err
		}
	}
	for _, f := range [...]bounded{{"call id", c.Ref, maxName}, {"tool", c.Tool, maxName}, {"dir", c.Dir, maxPath}, {"claim", c.Claim, maxText}} {
		if err := checkText(f.name, f.text, f.most); err != nil {
			return err
		}
	}
	if len(c.Suggests) > maxSuggests {
		return invalid("a call suggests at most %d matchers", maxSuggests)
	}
	for _, match := range c.Suggests {
		if err := checkText("suggestion", match, maxPath); err != nil {
			return err
		}
	}
	return nil
}

// bounded is a text of a proposal, which can be too long.
type bounded struct {
	name, text string
	most       int // bytes
}

func checkText(name, text string, most int) error {
	if len(text) > most {
		return invalid("%s has %d bytes, the most is %d", name, len(text), most)
	}
	if !utf8.ValidString(text) {
		return invalid("%s is not UTF-8", name)
	}
	return nil
}

// pair is what a repetition without an id has in common with the first asking.
func (p *Proposal) pair() Sum {
	if p.Pair == "" || len(p.Calls) != 1 {
		return Sum{}
	}
	c := p.Calls[0]
	return SumFields("gatelatch.pair.v1", []byte(p.Session.ID), []byte(p.Pair), []byte(c.Tool), c.Input, []byte(c.Dir))
}

// sameAs reports whether b is what p proposes: anything else under the same
// message is a conflict.
func (p *Proposal) sameAs(b *Batch) bool {
	return sameCalls(p.Calls, b.phase(1))
}

// phase returns the calls that came with a phase.
func (b *Batch) phase(n int) []*Call {
	var out []*Call
	for _, c := range b.Calls {
		if c.Phase == n {
			out = append(out, c)
		}
	}
	return out
}

func sameCalls(proposed []ProposedCall, have []*Call) bool {
	return slices.EqualFunc(proposed, have, func(q ProposedCall, c *Call) bool {
		return c.Ref == q.Ref && c.Tool == q.Tool && c.Kind == q.Kind && c.Dir == q.Dir && c.Proposed == SumOf(q.Input)
	})
}

// judged is a proposed call after hooks and policy.
type judged struct {
	input   []byte
	verdict Verdict
	bound   *Bound
}

// empty begins the batch that p proposes. It is called anew for each try of a
// transaction and shares no mutable state with p.
func (p *Proposal) empty(by Actor, at time.Time) *Batch {
	return &Batch{
		ID: id.New("bat"), Agent: by.ID, AgentName: p.Session.Name,
		Session: p.Session.ID, Message: p.Message, Pair: p.pair(), Context: p.Context, Created: at,
		Turn: p.Pair, Subagent: p.Subagent,
	}
}

// propose adds calls with their verdicts.
func (b *Batch) propose(calls []ProposedCall, js []judged, limit time.Duration, by Actor, at time.Time) error {
	for i, q := range calls {
		c := &Call{
			ID: id.New("cal"), Ref: q.Ref, Kind: q.Kind, Tool: q.Tool, Input: js[i].input,
			Proposed: SumOf(q.Input), Dir: q.Dir, Claim: q.Claim, Suggests: q.Suggests, Bound: js[i].bound,
		}
		if limit > 0 {
			c.Deadline = at.Add(limit)
		}
		b.Propose(c, by, at)
		if err := b.Judge(c, js[i].verdict, at); err != nil {
			return err
		}
	}
	return nil
}

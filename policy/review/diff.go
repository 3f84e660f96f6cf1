package review

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

// A Relation says how new rules stand to old ones.
type Relation string

// Relations. Same is byte for byte. Alike means that no example tells the rules
// apart, which is no proof.
const (
	Same     Relation = "same"
	Wider    Relation = "wider"
	Narrower Relation = "narrower"
	Both     Relation = "both"
	Alike    Relation = "alike"
)

// A Witness is a call that two policies disagree about.
type Witness struct {
	Call    gatelatch.Call    `json:"-"`
	Tool    string            `json:"tool"`
	Input   string            `json:"input"`
	Project string            `json:"project"`
	Old     gatelatch.Verdict `json:"old"`
	New     gatelatch.Verdict `json:"new"`
}

// Wider reports whether the new rules let more through.
func (w *Witness) Wider() bool { return w.New.Effect > w.Old.Effect }

// A Difference is what tells two policies apart.
type Difference struct {
	Relation  Relation  `json:"relation"`
	Witnesses []Witness `json:"witnesses"`
}

// Diff compares two policies by calls that are thought up from the rules of
// both. No file is looked at.
func Diff(before, after *policy.Set) *Difference {
	d := &Difference{Relation: Same, Witnesses: []Witness{}}
	before, after = before.Unhurried(), after.Unhurried()
	all := everyday()
	for _, set := range []*policy.Set{before, after} {
		for _, r := range set.Rules() {
			all = append(all, samples(r)...)
		}
	}
	seen := map[string]bool{}
	wider, narrower := false, false
	for _, s := range all {
		w := compare(before, after, s)
		if w.Old.Effect == w.New.Effect || seen[w.kind()] {
			continue
		}
		seen[w.kind()] = true
		d.Witnesses = append(d.Witnesses, w)
		wider, narrower = wider || w.Wider(), narrower || !w.Wider()
	}
	slices.SortStableFunc(d.Witnesses, func(a, b Witness) int { return cmp.Compare(b.New.Effect, a.New.Effect) })
	switch {
	case wider && narrower:
		d.Relation = Both
	case wider:
		d.Relation = Wider
	case narrower:
		d.Relation = Narrower
	case before.Hash() != after.Hash():
		d.Relation = Alike
	}
	return d
}

func compare(before, after *policy.Set, s sample) Witness {
	c, sess := s.call()
	return Witness{
		Call: *c, Tool: c.Tool, Input: string(c.Input), Project: sess.Project,
		Old: before.JudgeFacts(before.ReadAsWritten(c, sess), nil), New: after.JudgeFacts(after.ReadAsWritten(c, sess), nil),
	}
}

// kind is the same for calls that the same rules decide in the same way: one
// of them is enough.
func (w *Witness) kind() string {
	return fmt.Sprint(w.Tool, w.Old.Effect, Telling(w.Old).Rule, w.New.Effect, Telling(w.New).Rule)
}

// Telling is the reason to name if there is room for one: a rule rather than
// that a command beside it only reads.
func Telling(v gatelatch.Verdict) gatelatch.Reason {
	for _, r := range v.Reasons {
		if r.Rule != policy.RuleReads {
			return r
		}
	}
	if len(v.Reasons) == 0 {
		return gatelatch.Reason{}
	}
	return v.Reasons[0]
}

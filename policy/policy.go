// Package policy judges calls by the rules of a file.
//
// Rules have no order: deny beats ask, ask beats allow, and what no rule speaks
// about is asked. The two directions read a call differently. A rule that
// allows must be certain, so it matches only what can't be anything else: one
// plain shell command, the path after links are followed. A rule that asks or
// denies matches whatever could be meant. What can't be read is never allowed.
package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Layers of a reason.
const (
	layerUser    = "user"
	layerDefault = "default"
)

const noRule = "no rule covers this"

// A Set is a list of rules. It never changes, so any number of goroutines may
// judge by it.
type Set struct {
	layer  string
	rules  []rule
	hash   string
	broken string   // denies everything, for this reason
	dirs   []string // see File.Protect
}

var _ gatelatch.Policy = (*Set)(nil)

// Hash identifies the rules.
func (s *Set) Hash() string { return s.hash }

// Judge implements gatelatch.Policy.
func (s *Set) Judge(_ context.Context, c *gatelatch.Call, sess *gatelatch.Session) gatelatch.Verdict {
	if s.broken != "" {
		return s.verdict(nil, gatelatch.Reason{Effect: gatelatch.Deny, Layer: layerUser, Message: s.broken})
	}
	if err := strictjson.Check(c.Input); err != nil {
		return s.verdict(nil, gatelatch.Reason{Effect: gatelatch.Deny, Layer: layerDefault,
			Message: "the input can be read in more than one way: " + err.Error()})
	}
	subj := newSubject(c, sess, s.dirs)
	var reasons []gatelatch.Reason
	var errs []string
	for i := range s.rules {
		r := &s.rules[i]
		hits, err := r.match(subj)
		if err != nil {
			errs = append(errs, fmt.Sprintf("%s: %s: %v", r.source, r.text, err))
			hits = r.afterError()
		}
		for _, h := range hits {
			reasons = append(reasons, r.reason(s.layer, h))
		}
	}
	if reasons = append(reasons, subj.concerns...); len(reasons) == 0 {
		reasons = []gatelatch.Reason{{Effect: gatelatch.Ask, Layer: layerDefault, Message: cmp.Or(subj.unmatched, noRule)}}
	}
	return s.verdict(errs, reasons...)
}

// verdict combines reasons, of which there is at least one: the strictest
// decides, and comes first.
func (s *Set) verdict(errs []string, reasons ...gatelatch.Reason) gatelatch.Verdict {
	v := gatelatch.Verdict{Effect: gatelatch.Allow, Reasons: reasons, Errors: errs, Policy: s.hash}
	for _, r := range v.Reasons {
		v.Effect = min(v.Effect, r.Effect)
	}
	slices.SortStableFunc(v.Reasons, func(a, b gatelatch.Reason) int { return int(a.Effect) - int(b.Effect) })
	return v
}

// A hit is one place where a rule matches.
type hit struct {
	part       string
	start, end int
}

func (r *rule) reason(layer string, h hit) gatelatch.Reason {
	return gatelatch.Reason{
		Effect: r.effect, Layer: layer, Rule: r.text, Source: r.source, Message: r.message(),
		Part: h.part, Start: h.start, End: h.end,
	}
}

func (r *rule) message() string {
	switch {
	case r.why != "":
		return r.why
	case r.effect == gatelatch.Allow:
		return "allowed by the rule " + r.text
	case r.effect == gatelatch.Ask:
		return "the rule " + r.text + " asks first"
	default:
		return "denied by the rule " + r.text
	}
}

// afterError is what a rule that could not be evaluated counts as: a rule that
// allows does not match, any other does.
func (r *rule) afterError() []hit {
	if r.effect == gatelatch.Allow {
		return nil
	}
	return []hit{{}}
}

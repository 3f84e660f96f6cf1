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
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Layers of a reason.
const (
	layerUser    = "user"
	layerDefault = "default"
	layerGrant   = "grant"
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
	grants *grantCache
}

var _ gatelatch.Policy = (*Set)(nil)

// Hash identifies the rules.
func (s *Set) Hash() string { return s.hash }

// Judge implements gatelatch.Policy.
func (s *Set) Judge(_ context.Context, c *gatelatch.Call, sess *gatelatch.Session, grants []*gatelatch.Grant) gatelatch.Verdict {
	if denial := s.refuse(c); denial != nil {
		return s.verdict(nil, *denial)
	}
	subj := newSubject(c, sess, s.dirs)
	reasons, limit, errs := s.consult(subj)
	if len(reasons) > 0 {
		v := s.verdict(errs, reasons...)
		if v.Effect == gatelatch.Ask {
			v.Limit = limit
		}
		return v
	}
	g, reason, grantErrs := s.granted(subj, grants)
	errs = append(errs, grantErrs...)
	if g == nil {
		return s.verdict(errs, gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Message: cmp.Or(subj.unmatched, noRule)})
	}
	v := s.verdict(errs, reason)
	v.Grant = g.ID
	return v
}

// refuse returns why a call is not even looked at, nil if it is.
func (s *Set) refuse(c *gatelatch.Call) *gatelatch.Reason {
	if s.broken != "" {
		return &gatelatch.Reason{Effect: gatelatch.Deny, Layer: layerUser, Message: s.broken}
	}
	if err := strictjson.Check(c.Input); err != nil {
		return &gatelatch.Reason{Effect: gatelatch.Deny, Layer: layerDefault,
			Message: "the input can be read in more than one way: " + err.Error()}
	}
	return nil
}

// consult returns all that rules and concerns say, and the shortest time that
// a rule which asks gives.
func (s *Set) consult(subj *subject) (reasons []gatelatch.Reason, limit time.Duration, errs []string) {
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
		if len(hits) > 0 && r.within > 0 && (limit == 0 || r.within < limit) {
			limit = r.within
		}
	}
	return append(reasons, subj.concerns...), limit, errs
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

package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
)

// maxReasons is how many reasons a verdict keeps, the strictest first. More
// would say nothing new.
const maxReasons = 64

// Judge implements gatelatch.Policy.
func (s *Set) Judge(_ context.Context, c *gatelatch.Call, sess *gatelatch.Session, grants []*gatelatch.Grant) gatelatch.Verdict {
	return s.JudgeFacts(s.Read(c, sess), grants)
}

// JudgeFacts gives the verdict on a call that was read before.
func (s *Set) JudgeFacts(f *Facts, grants []*gatelatch.Grant) gatelatch.Verdict {
	if denial := s.refuse(f); denial != nil {
		return s.verdict(nil, *denial)
	}
	said := s.consult(f)
	if len(said.reasons) > 0 {
		v := s.verdict(said.errs, said.reasons...)
		if v.Effect == gatelatch.Ask {
			v.Limit = said.limit
		}
		return v
	}
	g, reason, errs := s.granted(f, grants)
	errs = append(said.errs, errs...)
	if g == nil {
		return s.verdict(errs, gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Message: cmp.Or(f.unmatched, noRule)})
	}
	v := s.verdict(errs, reason)
	v.Grant = g.ID
	return v
}

// refuse returns why a call is not even looked at, nil if it is.
func (s *Set) refuse(f *Facts) *gatelatch.Reason {
	switch {
	case s.broken != "":
		return &gatelatch.Reason{Effect: gatelatch.Deny, Layer: layerUser, Message: s.broken}
	case f.refused != "":
		return &gatelatch.Reason{Effect: gatelatch.Deny, Layer: layerDefault, Message: f.refused}
	}
	return nil
}

// said is what the layers have to say.
type said struct {
	reasons []gatelatch.Reason
	limit   time.Duration // the shortest that a rule which asks gives
	errs    []string
}

// consult returns all that rules and concerns say. The reasons are good until
// the facts are used again.
func (s *Set) consult(f *Facts) said {
	out := said{reasons: f.buf.reasons[:0]}
	began := time.Now()
	for _, l := range s.layers {
		ids := l.index.collect(f, f.buf.ids[:0])
		f.buf.ids = ids
		for n, id := range ids {
			if n%16 == 15 && time.Since(began) > s.budget {
				break
			}
			s.ask(&l.rules[id], f, &out)
		}
	}
	out.reasons = append(out.reasons, f.concerns...)
	if time.Since(began) > s.budget {
		out.reasons = append(out.reasons, gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault,
			Message: "judging this takes too long"})
	}
	f.buf.reasons = out.reasons
	return out
}

// ask adds what one rule says. One that can't be evaluated counts as one that
// matches, unless it allows.
func (s *Set) ask(r *rule, f *Facts, out *said) {
	hits, err := r.match(f, f.buf.hits[:0])
	f.buf.hits = hits
	if err != nil {
		out.errs = append(out.errs, fmt.Sprintf("%s: %s: %v", r.Source, r.Text, err))
		if r.Effect != gatelatch.Allow {
			hits = append(hits[:0], hit{})
		}
	}
	if len(hits) == 0 || !r.Until.IsZero() && r.ended(s.now()) {
		return
	}
	for _, h := range hits {
		out.reasons = append(out.reasons, r.reason(h))
	}
	if r.Within > 0 && (out.limit == 0 || r.Within < out.limit) {
		out.limit = r.Within
	}
}

// verdict combines reasons, of which there is at least one: the strictest
// decides, and comes first.
func (s *Set) verdict(errs []string, reasons ...gatelatch.Reason) gatelatch.Verdict {
	slices.SortStableFunc(reasons, func(a, b gatelatch.Reason) int { return int(a.Effect) - int(b.Effect) })
	return gatelatch.Verdict{
		Effect:  reasons[0].Effect,
		Reasons: slices.Clone(reasons[:min(len(reasons), maxReasons)]),
		Errors:  errs, Policy: s.hash,
	}
}

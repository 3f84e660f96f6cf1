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
	f := s.Read(c, sess)
	v := s.JudgeFacts(f, grants)
	if v.Effect == gatelatch.Ask && f.refused == "" {
		v.Needs = f.needs()
	}
	return v
}

// JudgeFacts gives the verdict on a call that was read before. Rules and
// concerns speak first. Where they are silent, a grant, a setting or the mode
// may allow; where something allows, plan mode may still ask.
func (s *Set) JudgeFacts(f *Facts, grants []*gatelatch.Grant) gatelatch.Verdict {
	if denial := s.refuse(f); denial != nil {
		return s.verdict(said{reasons: []gatelatch.Reason{*denial}})
	}
	said := s.consult(f)
	if len(said.reasons) == 0 {
		s.fallBack(f, grants, &said)
	} else {
		s.miss(f, &said)
	}
	s.hold(f, &said)
	f.buf.reasons = said.reasons
	v := s.verdict(said)
	f.giveBack()
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
	why     string // something would have allowed, but for this
	grant   string
	mode    gatelatch.Mode
	covered map[int][]gatelatch.Reason // commands of a line that a rule allows, and why

	deadline time.Time
	late     bool
}

func (o *said) add(r gatelatch.Reason) { o.reasons = append(o.reasons, r) }

// cover notes that a rule allows one command of a line.
func (o *said) cover(command int, r gatelatch.Reason) {
	if o.covered == nil {
		o.covered = map[int][]gatelatch.Reason{}
	}
	o.covered[command] = append(o.covered[command], r)
}

// effect returns the strictest of the reasons, Allow if there are none.
func (o *said) effect() gatelatch.Effect {
	out := gatelatch.Allow
	for i := range o.reasons {
		out = min(out, o.reasons[i].Effect)
	}
	return out
}

// consult returns all that rules, concerns and limits on shell commands say.
// The reasons are good until the facts are used again.
func (s *Set) consult(f *Facts) said {
	out := said{reasons: f.buffers().reasons[:0]}
	for _, l := range s.layers {
		s.consultLayer(l, f, true, &out)
		for i := range l.sections {
			if certain, possible := f.inSection(&l.sections[i]); possible {
				s.consultLayer(l.sections[i].layer, f, certain, &out)
			}
		}
		if r := l.exec.always(f, l.name); r != nil {
			out.add(*r)
		}
	}
	s.line(f, &out)
	s.consultFiles(f, &out)
	out.reasons = append(out.reasons, f.concerns...)
	if out.late {
		out.add(*asked("judging this takes too long"))
	}
	f.buf.reasons = out.reasons
	return out
}

// consultLayer asks the rules of one layer that may be about the call. Unless
// it is certain that the layer is in force, it can't allow.
func (s *Set) consultLayer(l *layer, f *Facts, certain bool, out *said) {
	f.buf.ids = l.index.collect(f, f.buf.ids[:0])
	for n, id := range f.buf.ids {
		r := &l.rules[id]
		if out.late {
			return
		}
		if certain || r.Effect != gatelatch.Allow {
			s.ask(r, f, out)
		}
		// One rule costs nothing to speak of, unless it has conditions.
		if len(r.where) > 0 || n%16 == 15 {
			out.late = s.late(&out.deadline)
		}
	}
}

// late reports whether the time for a judgement is over. It begins with the first
// rule that costs some.
func (s *Set) late(deadline *time.Time) bool {
	now := time.Now()
	if deadline.IsZero() {
		*deadline = now.Add(s.budget)
	}
	return now.After(*deadline)
}

// ask adds what one rule says. One that can't be evaluated counts as one that
// matches, unless it allows.
func (s *Set) ask(r *rule, f *Facts, out *said) {
	hits, err := r.match(f, f.buffers().hits[:0])
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
		if f.shell != nil && r.Effect == gatelatch.Allow {
			out.cover(h.command, r.reason(h))
		} else {
			out.add(r.reason(h))
		}
	}
	if r.Within > 0 && (out.limit == 0 || r.Within < out.limit) {
		out.limit = r.Within
	}
}

// fallBack says what holds where nothing was said: a grant, the limits on
// shell commands, a switch, the mode, and otherwise that a person is asked.
func (s *Set) fallBack(f *Facts, grants []*gatelatch.Grant, out *said) {
	g, reason, errs := s.granted(f, grants)
	out.errs = append(out.errs, errs...)
	if g != nil {
		out.grant = g.ID
		out.add(reason)
		return
	}
	for _, l := range s.layers {
		if r := l.exec.onMiss(f, l.name); r != nil {
			out.add(*r)
		}
	}
	if len(out.reasons) == 0 {
		if r := s.skipped(f, out); r != nil {
			out.add(*r)
		} else if r := s.allowedByMode(f, out); r != nil {
			out.add(*r)
		}
	}
	switch {
	case len(out.reasons) > 0:
	case f.shell != nil && out.why == "":
		out.reasons = append(out.reasons, f.askedAbout()...)
	default:
		out.add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Message: cmp.Or(out.why, f.unmatched, noRule)})
	}
}

// miss denies a shell command that is on no list where only those run, also if
// something else was said about it.
func (s *Set) miss(f *Facts, out *said) {
	if f.shell == nil || slices.ContainsFunc(out.reasons, func(r gatelatch.Reason) bool { return r.Effect == gatelatch.Allow }) {
		return
	}
	for _, l := range s.layers {
		if r := l.exec.onMiss(f, l.name); r != nil && r.Effect == gatelatch.Deny {
			out.add(*r)
		}
	}
}

// hold asks about what would be allowed, if plan mode or a project whose file
// is broken wants that.
func (s *Set) hold(f *Facts, out *said) {
	if out.effect() != gatelatch.Allow {
		return
	}
	if mode := s.modeFor(f); mode.mode == gatelatch.ModePlan && !f.onlyReads() {
		out.add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: mode.layer, Source: mode.source, Message: mode.message("asks about what does not only read")})
	}
	if s.doubt != "" {
		out.add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerProject, Message: s.doubt + "; until it is mended, a person is asked"})
	}
}

// verdict combines reasons, of which there is at least one: the strictest
// decides, and comes first.
func (s *Set) verdict(o said) gatelatch.Verdict {
	if len(o.reasons) > 1 {
		slices.SortStableFunc(o.reasons, func(a, b gatelatch.Reason) int { return int(a.Effect) - int(b.Effect) })
	}
	v := gatelatch.Verdict{
		Effect:  o.reasons[0].Effect,
		Reasons: slices.Clone(o.reasons[:min(len(o.reasons), maxReasons)]),
		Errors:  o.errs, Policy: s.hash,
	}
	switch v.Effect {
	case gatelatch.Ask:
		v.Limit = o.limit
	case gatelatch.Allow:
		v.Grant, v.Mode = o.grant, o.mode
	case gatelatch.Deny:
	}
	return v
}

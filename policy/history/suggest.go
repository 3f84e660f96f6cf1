package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

// Limits of suggesting: what is beyond them is not suggested.
const (
	maxCandidates = 400_000 // rules looked at
	maxTried      = 500     // of them, tried on the whole history
	children      = 3       // different things that a wider rule must have been needed for
)

// A Suggestion is a rule that would have saved questions.
type Suggestion struct {
	Rule  string `json:"rule"`
	Saves int    `json:"saves"` // questions that a person answered with an allow, and no rule above saves
	// Undecided are questions that the rule would have answered, too, though
	// nobody did: they expired or were withdrawn.
	Undecided int      `json:"undecided"`
	Also      string   `json:"also"`     // what else it lets through, in words
	Examples  []Record `json:"examples"` // of what it would have saved
}

// Suggestions are rules that go together, those that save most first.
type Suggestions struct {
	Asks  int          `json:"asks"` // questions in the history
	Rules []Suggestion `json:"rules"`
}

// SuggestOptions bound what is suggested. Zero values have defaults.
type SuggestOptions struct {
	Rules int // at most so many; 10
	Saves int // each at least so many questions; 2
}

// Suggest finds the narrowest rules that would have saved most questions under
// the rules of set. None of them covers a call that a person refused, neither as it was
// written nor where its path leads today. It reads the history twice.
func Suggest(ctx context.Context, set *policy.Set, src Source, opt SuggestOptions) (*Suggestions, error) {
	s := &suggester{ctx: ctx, set: set.Unhurried(), least: cmp.Or(opt.Saves, 2), seen: map[string]*tally{}}
	if err := each(ctx, src, s.note); err != nil {
		return nil, err
	}
	s.choose()
	if err := each(ctx, src, s.try); err != nil {
		return nil, err
	}
	return &Suggestions{Asks: s.asks, Rules: s.cover(cmp.Or(opt.Rules, 10))}, nil
}

func each(ctx context.Context, src Source, fn func(*Record)) error {
	for r, err := range src {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		fn(&r)
	}
	return nil
}

type suggester struct {
	ctx    context.Context
	set    *policy.Set
	least  int
	asks   int
	agreed int32 // questions that were answered with an allow
	seen   map[string]*tally
	tried  []*tally
}

// A tally is what the history says about one candidate.
type tally struct {
	candidate
	agreed    int
	undecided int
	refused   bool
	children  []string
	sample    Record
	saves     []int32 // numbers of the questions
	examples  []Record
}

// note counts a record for every candidate that covers it as it is written.
func (s *suggester) note(r *Record) {
	if r.Asked() {
		s.asks++
	}
	if !r.Asked() && !r.Refused() {
		return
	}
	for _, c := range candidates(r) {
		t := s.seen[c.text]
		if t == nil {
			if len(s.seen) >= maxCandidates {
				continue
			}
			t = &tally{candidate: c}
			s.seen[c.text] = t
		}
		t.note(r, c.child)
	}
}

func (t *tally) note(r *Record, child string) {
	switch {
	case r.Refused():
		t.refused = true
		return
	case !r.Agreed():
		t.undecided++
		return
	}
	if t.agreed++; t.agreed == 1 {
		t.sample = *r
	}
	if len(t.children) < children && !slices.Contains(t.children, child) {
		t.children = append(t.children, child)
	}
}

// narrower reports whether t lets through less than other, where one of them
// is within the other.
func (t *tally) narrower(other *tally) bool {
	if t.wide != other.wide {
		return other.wide
	}
	return len(t.text) > len(other.text)
}

// choose keeps the candidates worth trying: needed often enough, never refused,
// and narrow enough that a click could have remembered them.
func (s *suggester) choose() {
	for _, t := range s.seen {
		if !t.refused && t.agreed >= s.least && (!t.wide || len(t.children) >= children) {
			s.tried = append(s.tried, t)
		}
	}
	slices.SortFunc(s.tried, func(a, b *tally) int {
		return cmp.Or(cmp.Compare(b.agreed, a.agreed), cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text))
	})
	kept := s.tried[:0]
	for _, t := range s.tried {
		c, sess := t.sample.call()
		if len(kept) < maxTried && s.set.Covers(t.text, c, sess, gatelatch.ForSession) == nil {
			kept = append(kept, t)
		}
	}
	s.tried, s.seen = kept, map[string]*tally{}
	for _, t := range kept {
		s.seen[t.text] = t
	}
}

// try judges a record with the candidates remembered.
func (s *suggester) try(r *Record) {
	switch {
	case r.Refused():
		s.refuse(r)
	case r.Agreed():
		s.agreed++
		s.save(r)
	}
}

// refuse drops every candidate that would allow what a person refused.
func (s *suggester) refuse(r *Record) {
	for {
		t := s.judge(r, s.tried)
		if t == nil {
			return
		}
		delete(s.seen, t.text)
		s.tried = slices.DeleteFunc(s.tried, func(other *tally) bool { return other == t })
	}
}

// save notes which candidates would have saved the question: the narrowest that
// really covers the call, and all that are wider.
func (s *suggester) save(r *Record) {
	var mine []*tally
	for _, c := range candidates(r) {
		if t := s.seen[c.text]; t != nil {
			mine = append(mine, t)
		}
	}
	first := s.judge(r, mine)
	if first == nil {
		return
	}
	for _, t := range mine[slices.Index(mine, first):] {
		t.saves = append(t.saves, s.agreed)
		if len(t.examples) < children && !slices.ContainsFunc(t.examples, func(e Record) bool { return string(e.Input) == string(r.Input) }) {
			t.examples = append(t.examples, *r)
		}
	}
}

// judge returns the candidate that would allow the call, nil if none would.
func (s *suggester) judge(r *Record, ts []*tally) *tally {
	if len(ts) == 0 {
		return nil
	}
	grants := make([]*gatelatch.Grant, len(ts))
	for i, t := range ts {
		grants[i] = &gatelatch.Grant{ID: t.text, Match: t.text, Scope: gatelatch.ForSession}
	}
	c, sess := r.call()
	v := s.set.Judge(s.ctx, c, sess, grants)
	if v.Effect != gatelatch.Allow || v.Grant == "" {
		return nil
	}
	i := slices.IndexFunc(ts, func(t *tally) bool { return t.text == v.Grant })
	return ts[i]
}

// cover takes the rule that saves most of what is left, the narrowest of them
// if there are several, and so on.
func (s *suggester) cover(most int) []Suggestion {
	out := []Suggestion{}
	saved := make([]bool, s.agreed+1)
	for len(out) < most {
		var best *tally
		gain := s.least - 1
		for _, t := range s.tried {
			n := 0
			for _, question := range t.saves {
				if !saved[question] {
					n++
				}
			}
			if n > gain || n == gain && best != nil && t.narrower(best) {
				best, gain = t, n
			}
		}
		if best == nil {
			break
		}
		for _, question := range best.saves {
			saved[question] = true
		}
		out = append(out, Suggestion{Rule: best.text, Saves: gain, Undecided: best.undecided, Also: also(best.text), Examples: best.examples})
	}
	return out
}

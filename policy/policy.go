// Package policy judges calls by the rules of files.
//
// Rules have no order: deny beats ask, ask beats allow, and what no rule speaks
// about is asked. The two directions read a call differently. A rule that
// allows must be certain, so it matches only what can't be anything else: a
// command that does what its words say, the path after links are followed. A rule that asks or
// denies matches whatever could be meant. What can't be read is never allowed.
//
// A call takes one way through the package: it is read into [Facts], an index
// picks the rules that may be about it, each layer says its reasons, and the
// strictest reason is the verdict.
package policy

import (
	"time"

	"github.com/gatelatch/gatelatch"
)

// Layers of a reason.
const (
	layerDefault = "default"
	layerMachine = "machine"
	layerUser    = "user"
	layerProject = "project"
	layerSession = "session"
	layerGrant   = "grant"
)

const noRule = "no rule covers this"

// budget is how long a judgement may take (SEC-72).
const budget = 50 * time.Millisecond

// A Set is the rules that are in force together. It never changes, so any
// number of goroutines may judge by it.
type Set struct {
	layers []*layer
	hash   string
	broken string            // denies everything, for this reason
	doubt  string            // nothing is allowed without a person, for this reason
	dirs   []string          // see File.Protect
	reads  *gatelatch.Reason // see whyReads
	home   string            // see home
	grants *grantCache
	now    func() time.Time
	budget time.Duration
}

var _ gatelatch.Policy = (*Set)(nil)

// A layer is what one file says, or a section of it.
type layer struct {
	name  string
	rules []rule
	index index
	settings
	sections []section
	text     string // as it is written
	sum      string
	warnings []string
}

func newSet(layers ...*layer) *Set {
	s := &Set{layers: layers, grants: &grantCache{}, now: time.Now, budget: budget}
	return s.sum()
}

// sum makes what follows from all that is in force, the hash above all.
func (s *Set) sum() *Set {
	s.reads, s.home = whyReads(s.layers), home()
	if len(s.layers) == 1 && s.broken == "" && s.doubt == "" {
		s.hash = s.layers[0].sum
		return s
	}
	parts := [][]byte{[]byte(s.broken), []byte(s.doubt)}
	for _, l := range s.layers {
		parts = append(parts, []byte(l.sum))
	}
	s.hash = gatelatch.SumFields("gatelatch.policy.layers.v1", parts...).String()
	return s
}

// Hash identifies the rules.
func (s *Set) Hash() string { return s.hash }

// Rules lists the rules, also those that have ended, by layer and as written.
func (s *Set) Rules() []Rule {
	var out []Rule
	for _, l := range s.layers {
		out = l.list(out)
		for _, s := range l.sections {
			out = s.layer.list(out)
		}
	}
	return out
}

func (l *layer) list(out []Rule) []Rule {
	for i := range l.rules {
		out = append(out, l.rules[i].Rule)
	}
	return out
}

// Warnings says what in the files has no effect, each with its line.
func (s *Set) Warnings() []string {
	var out []string
	for _, l := range s.layers {
		out = append(out, l.warnings...)
	}
	return out
}

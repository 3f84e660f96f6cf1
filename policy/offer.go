package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/shell"
)

// maxAlso is how many neighbours of an offer are named.
const maxAlso = 3

// Offers implements gatelatch.Offering. Each one passes Covers.
func (s *Set) Offers(c *gatelatch.Call, sess *gatelatch.Session, scope gatelatch.Scope) (out []gatelatch.Offer) {
	f, err := s.silent(c, sess, scope)
	if err != nil {
		return nil
	}
	for _, match := range f.offers(scope) {
		known := slices.ContainsFunc(out, func(o gatelatch.Offer) bool { return o.Match == match })
		if !known && f.coveredBy(match, scope) == nil {
			out = append(out, gatelatch.Offer{Match: match, Also: s.also(match, f, scope)})
		}
	}
	return out
}

// offers writes matchers, what Remember gives first. Whether they may be
// remembered is for coveredBy to say.
func (f *Facts) offers(scope gatelatch.Scope) []string {
	first, err := f.narrowest(scope)
	if err != nil {
		return nil
	}
	out := []string{first}
	switch tool := f.call.Tool; {
	case f.shell != nil:
		if match := f.shell.anyArguments(); match != "" {
			out = append(out, match)
		}
	case f.path != nil && !pathTools[tool].searches():
		file := filepath.ToSlash(f.path.certain[0])
		if pathTools[tool].writes {
			tool = "Edit"
		}
		out = append(out, tool+"("+escapeGlob(file)+")", tool+"("+escapeGlob(path.Dir(file))+"/**)")
	}
	return out
}

// anyArguments writes the verbs of the commands that nothing covers, "" if of
// none what follows them can be left open.
func (u *shellUse) anyArguments() string {
	var out []string
	some := false
	for _, i := range u.open {
		match := u.verbs(i)
		if some = some || match != ""; match == "" {
			match, _ = u.asWords(i) // narrowest wrote it, too
		}
		if !slices.Contains(out, match) {
			out = append(out, match)
		}
	}
	if !some {
		return ""
	}
	return joinParts(out)
}

func (u *shellUse) verbs(command int) string {
	c := u.facts.Commands[command]
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		words[i] = w.Text
	}
	n := shell.Verbs(words)
	if n == 0 || !shell.Bounded(words[:n]) {
		return ""
	}
	return "Bash(" + u.src[c.Words[0].Start:c.Words[n-1].End] + ":*)"
}

// also names commands to think about that a grant of the matcher would allow:
// it tries them.
func (s *Set) also(match string, f *Facts, scope gatelatch.Scope) (out []string) {
	if f.shell == nil || !strings.Contains(match, ":*)") {
		return nil
	}
	trial := []*gatelatch.Grant{{ID: "offer", Match: match, Scope: scope}}
	for _, i := range f.shell.open {
		own := f.shell.facts.Commands[i]
		words, _ := shell.Words(f.shell.src[own.Start:own.End])
		for _, command := range shell.Neighbours(words) {
			if len(out) == maxAlso {
				break
			}
			input, err := strictjson.Marshal(map[string]string{"command": command})
			if err != nil {
				continue
			}
			c := *f.call
			c.Input = input
			other := s.Read(&c, f.session)
			if other.addsTo(f, own) && !slices.Contains(out, command) && s.JudgeFacts(other, trial).Grant == trial[0].ID {
				out = append(out, command)
			}
		}
	}
	return out
}

// addsTo reports whether a neighbour does something that the call does not, or
// has an option that its command has not.
func (f *Facts) addsTo(call *Facts, own shell.Simple) bool {
	for _, w := range f.shell.facts.Commands[0].Words {
		if strings.HasPrefix(w.Text, "-") && !slices.ContainsFunc(own.Words, func(o shell.WordValue) bool { return o.Text == w.Text }) {
			return true
		}
	}
	return slices.ContainsFunc(f.shell.facts.Effects, func(e shell.Effect) bool {
		return !f.onlyLooks(e) && !slices.ContainsFunc(call.shell.facts.Effects, func(o shell.Effect) bool {
			return o.Action == e.Action && o.Code == e.Code && (e.Code == "COMMAND" || o.Path == e.Path)
		})
	})
}

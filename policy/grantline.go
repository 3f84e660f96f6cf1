package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

const (
	partsMark = " + " // between the matchers of a line with several commands
	maxParts  = 4     // that a person looks through at once
)

// Parts are the matchers of what is remembered: several if a line has several
// commands that no rule is about. A mark in quotes is no mark.
func Parts(match string) (parts []string) {
	for at := 0; ; {
		i := strings.Index(match[at:], ")"+partsMark+"Bash(")
		if i < 0 {
			return append(parts, match)
		}
		at += i + len(")")
		if _, whole := shell.Words(strings.TrimSuffix(strings.TrimPrefix(match[:at-len(")")], "Bash("), ":*")); whole {
			parts, match, at = append(parts, match[:at]), match[at+len(partsMark):], 0
		}
	}
}

func joinParts(matches []string) string { return strings.Join(matches, partsMark) }

// lineStays checks that what the grant does not name of a line only reads.
func (f *Facts) lineStays(g *grant) (first hit, err error) {
	u := f.shell
	covered := map[int]bool{}
	for _, r := range g.rules {
		on, ok := r.on.(words)
		if !ok || !r.remembers(f.call.Tool) {
			return hit{}, errOther
		}
		hits, err := on.match(f, true, nil)
		if err == nil && len(hits) > 0 {
			if len(covered) == 0 {
				first = hits[0]
			}
			err = f.namedStays(on, hits, g.scope, covered)
		}
		if err != nil {
			return hit{}, err
		}
	}
	if len(covered) == 0 || !u.facts.Readable() || slices.ContainsFunc(u.open, func(i int) bool { return !covered[i] }) ||
		slices.ContainsFunc(u.facts.Effects, func(e shell.Effect) bool { return e.Command < 0 }) {
		return hit{}, errOther
	}
	return first, nil
}

// namedStays checks the words that a prefix left open, and that a command
// remembered for a project runs in it.
func (f *Facts) namedStays(on words, hits []hit, scope gatelatch.Scope, covered map[int]bool) error {
	outside := func(dir string) bool { return !f.inProject(f.newPathUse(dir, nil).certain...) }
	for _, h := range hits {
		covered[h.command] = true
		c := f.shell.facts.Commands[h.command]
		if scope == gatelatch.ForProject && outside(c.Dir) {
			return errOutside
		}
		var words []string
		for _, w := range c.Words {
			words = append(words, w.Text)
		}
		if why := shell.Runs(words); why != "" {
			return errors.New(why)
		}
		if err := f.openStays(on, h.command); err != nil {
			return err
		}
	}
	if (scope == gatelatch.ForProject || on.more && shell.Builds(on.want[0])) && outside(f.call.Dir) {
		return errOutside
	}
	return nil
}

// openStays checks the words that a grant left open more strictly than those of
// a rule: none of them makes the command run something else, nor write outside
// the project.
func (f *Facts) openStays(w words, command int) error {
	if !w.more {
		return nil
	}
	c := &f.shell.facts.Commands[command]
	end := c.Words[len(w.want)-1].End
	for _, e := range f.shell.facts.Of(command) {
		option := strings.HasPrefix(e.Code, "OPTION") && e.End == 0 || e.Start >= end
		switch {
		case !option:
		case e.Action == shell.Reads && f.holdsHome(e.Path):
			return errors.New("it would read the whole home folder, with what is secret in there")
		case e.Action == shell.Reads, e.Action == shell.AsksService, e.Action == shell.ChangesRepository:
		case e.Action == shell.Writes && e.Path != "" && f.inProject(f.newPathUse(e.Path, nil).certain...):
		default:
			return fmt.Errorf("%s; that was not remembered", f.describe(e))
		}
	}
	return nil
}

func (f *Facts) holdsHome(dir string) bool {
	_, inside := relative(dir, f.home().given)
	return dir != "" && f.home().given != "" && inside
}

// narrowest writes the commands of the line that nothing covers.
func (u *shellUse) narrowest() (string, error) {
	switch {
	case !u.facts.Readable():
		return "", errors.New("a command that can't be read is not remembered")
	case len(u.open) == 0:
		return "", errors.New("there is no command to remember")
	}
	var out []string
	for _, i := range u.open {
		match, err := u.asWords(i)
		if err != nil {
			return "", err
		}
		if !slices.Contains(out, match) {
			out = append(out, match)
		}
	}
	if len(out) > maxParts {
		return "", fmt.Errorf("%d commands of the line would have to be remembered, more than anybody looks through; allow it once", len(out))
	}
	return joinParts(out), nil
}

// asWords writes one command of the line as it stands there.
func (u *shellUse) asWords(command int) (string, error) {
	c := u.facts.Commands[command]
	text := strings.TrimSpace(u.src[c.Start:c.End])
	words, ok := shell.Words(text)
	same := slices.EqualFunc(words, c.Words, func(s string, w shell.WordValue) bool { return w.Known() && w.Text == s })
	if why := shell.Runs(words); ok && same && why != "" {
		return "", errors.New(why)
	}
	if _, plain := shell.Plain(text); !ok || !same || !plain {
		return "", errors.New("only plain words are remembered; this has expansions, quoting or assignments in it")
	}
	return "Bash(" + text + ")", nil
}

// usesAll checks that each part of a matcher is for some command of the line
// that nothing else covers: nobody agrees to what is not in sight.
func (f *Facts) usesAll(g *grant) error {
	for i := range g.rules {
		on, ok := g.rules[i].on.(words)
		if len(g.rules) > 1 && (!ok || !slices.ContainsFunc(f.shell.open, func(c int) bool { return on.covers(f, c) })) {
			return fmt.Errorf("%s is for nothing in this line", clip(g.rules[i].Text))
		}
	}
	return nil
}

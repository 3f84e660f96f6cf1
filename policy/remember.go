package policy

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/gatelatch/gatelatch"
)

// granted returns the first grant that allows what no rule speaks about, and
// its reason.
func (s *Set) granted(f *Facts, grants []*gatelatch.Grant) (*gatelatch.Grant, gatelatch.Reason, []string) {
	var errs []string
	for _, g := range grants {
		compiled, err := s.grants.get(g.Match, g.Scope)
		if err != nil {
			errs = append(errs, fmt.Sprintf("grant %s: %s: %v", g.ID, clip(g.Match), err))
			continue
		}
		if h, err := compiled.covers(f); err == nil {
			return g, gatelatch.Reason{
				Effect: gatelatch.Allow, Layer: layerGrant, Rule: g.Match, Message: grantMessage(g),
				Field: h.field, Part: h.part, Start: h.start, End: h.end,
			}, errs
		}
	}
	return nil, gatelatch.Reason{}, errs
}

func grantMessage(g *gatelatch.Grant) string {
	reach := map[gatelatch.Scope]string{gatelatch.ForSession: "for this session", gatelatch.ForProject: "in this project"}[g.Scope]
	return fmt.Sprintf("allowed by %s %s", g.By, cmp.Or(reach, "always"))
}

// clip shortens a text that nobody checked.
func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// Remember implements gatelatch.Policy.
func (s *Set) Remember(c *gatelatch.Call, sess *gatelatch.Session, scope gatelatch.Scope) (string, error) {
	f, err := s.silent(c, sess, scope)
	if err != nil {
		return "", err
	}
	match, err := f.narrowest(scope)
	if err == nil {
		err = f.coveredBy(match, scope)
	}
	if err != nil {
		return "", err
	}
	return match, nil
}

// Covers implements gatelatch.Policy.
func (s *Set) Covers(match string, c *gatelatch.Call, sess *gatelatch.Session, scope gatelatch.Scope) error {
	f, err := s.silent(c, sess, scope)
	if err != nil {
		return err
	}
	return f.coveredBy(match, scope)
}

// silent returns the call if no rule and no concern speaks about it, as only
// then a grant will count; otherwise what does.
func (s *Set) silent(c *gatelatch.Call, sess *gatelatch.Session, scope gatelatch.Scope) (*Facts, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	f := s.Read(c, sess)
	if denial := s.refuse(f); denial != nil {
		return nil, errors.New(denial.Message)
	}
	if scope == gatelatch.ForProject && f.project().resolved == "" {
		return nil, errors.New("the session has no project")
	}
	said := s.consult(f)
	if len(said.reasons) == 0 {
		return f, nil
	}
	switch r := s.verdict(said).Reasons[0]; {
	case r.Rule == "":
		return nil, fmt.Errorf("this is asked each time: %s", r.Message)
	case r.Effect == gatelatch.Allow:
		return nil, fmt.Errorf("the rule %s allows this already", r.Rule)
	case r.Effect == gatelatch.Ask:
		return nil, fmt.Errorf("the rule %s asks every time", r.Rule)
	default:
		return nil, fmt.Errorf("the rule %s denies this", r.Rule)
	}
}

// narrowest writes a matcher for the call. Whether it may be remembered is for
// coveredBy to say.
func (f *Facts) narrowest(scope gatelatch.Scope) (string, error) {
	tool := f.call.Tool
	switch {
	case f.shell != nil:
		return f.shell.narrowest()
	case f.path != nil && pathTools[tool].writes && scope == gatelatch.ForSession && !f.inProject(f.path.certain...):
		return "", errors.New("this is not inside the project")
	case f.path != nil && pathTools[tool].writes && scope == gatelatch.ForSession:
		return "Edit(" + escapeGlob(f.project().resolved) + "/**)", nil
	case f.path != nil:
		return tool + "(" + escapeGlob(f.path.certain[0]) + ")", nil
	case f.web != nil:
		return "WebFetch(domain:" + f.web.host + ")", nil
	case tool == "Skill":
		return "Skill(" + f.skill + ")", nil
	}
	return tool, nil
}

// coveredBy checks a matcher for a call that no rule speaks about.
func (f *Facts) coveredBy(match string, scope gatelatch.Scope) error {
	g, err := parseGrant(match, scope)
	if err != nil {
		return err
	}
	if f.shell != nil {
		for _, i := range f.shell.open {
			if r := f.guard(i); r != nil {
				return fmt.Errorf("this is asked each time: %s", r.Message)
			}
		}
		if err := f.usesAll(g); err != nil {
			return err
		}
	}
	if d, ok := g.rules[0].on.(domain); ok && f.web != nil && f.web.host != d.name && f.web.host != "www."+d.name {
		return fmt.Errorf("the host is %s; a wider domain belongs into the policy", f.web.host)
	}
	_, err = g.covers(f)
	return err
}

// narrow says what is too much to remember about files. Whole folders are
// matched by a glob, and by tools that search.
func (p pathPattern) narrow(tool string, scope gatelatch.Scope) error {
	folder := !p.exact() || pathTools[tool].searches()
	switch {
	case p.below == '~' || p.below == '*':
		return errors.New("write the path in full, or from the project on: ./src/**")
	case p.below == '.' && scope == gatelatch.Always:
		return errors.New("write the path in full: ./ is another folder in another project")
	case folder && scope == gatelatch.Always:
		return errors.New("a whole folder is remembered for the session or the project, not always")
	case folder && pathTools[tool].writes && scope != gatelatch.ForSession:
		return errors.New("writing to a whole folder is remembered for the session only")
	case protected("/"+p.base()) != "" && pathTools[tool].writes:
		return fmt.Errorf("protected path: writing to %s is asked each time", protected("/"+p.base()))
	}
	return nil
}

// pathStays checks that a folder which is remembered, and a file which is
// written, lie inside the project, with links resolved.
func (f *Facts) pathStays(p pathPattern, scope gatelatch.Scope) error {
	tool := pathTools[f.call.Tool]
	file := p.exact() && !tool.searches()
	switch {
	case file && (!tool.writes || scope == gatelatch.Always):
		return nil
	case !f.inProject(f.path.certain...):
		return errors.New("this is not inside the project")
	case p.below == '/' && !f.inProject("/"+p.base()):
		return errors.New("the pattern reaches out of the project")
	}
	return nil
}

// exact reports whether the pattern is one path.
func (p pathPattern) exact() bool { return unescapeGlob(p.glob) != "" }

// base returns the path that all it matches lie below.
func (p pathPattern) base() string {
	if path := unescapeGlob(p.glob); path != "" {
		return path
	}
	base, _ := doublestar.SplitPattern("/" + p.glob)
	return base[1:]
}

const globCharacters = `\*?[]{}`

func escapeGlob(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune(globCharacters, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unescapeGlob returns the only path that a glob matches, "" if there are more.
func unescapeGlob(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch {
		case glob[i] == '\\' && i+1 < len(glob):
			i++
		case strings.IndexByte(globCharacters, glob[i]) >= 0:
			return ""
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

// inProject reports whether all the resolved paths, at least one, lie inside
// the project.
func (f *Facts) inProject(paths ...string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(path string) bool {
		_, inside := relative(f.project().resolved, filepath.ToSlash(filepath.Clean(path)))
		return !inside
	})
}

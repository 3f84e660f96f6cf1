package policy

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pathPattern is the pattern of a rule about files.
type pathPattern struct {
	below    byte // '.' the project, '~' the home directory, '/' the root, '*' any folder
	glob     string
	folded   string // for rules that ask or deny
	anywhere string // the same below any folder
}

// newPattern takes a glob that was checked.
func newPattern(below byte, glob string) pathPattern {
	p := pathPattern{below: below, glob: glob, folded: fold(glob)}
	p.anywhere = "**/" + p.folded
	return p
}

// parsePath reads "./src/**" (in the project), "~/notes/**", "/etc/**" and
// "**/.env*" (below any folder). A rule that allows says which of these it is.
func parsePath(pattern string, allow bool) (matcher, error) {
	below, glob := byte('*'), pattern
	for _, anchor := range []string{"./", "~/", "/"} {
		if rest, ok := strings.CutPrefix(pattern, anchor); ok {
			below, glob = anchor[0], rest
		}
	}
	anywhere := strings.HasPrefix(pattern, "**/") || pattern == "**"
	switch {
	case !doublestar.ValidatePattern(glob):
		return nil, errors.New("the pattern is not a valid glob")
	case glob == "" || strings.HasPrefix(glob, "/"):
		return nil, errors.New("write one slash, then a path; ./** is all of the project")
	case hasDots(glob) || glob != filepath.ToSlash(glob):
		return nil, errors.New("a path is matched after . and .. are resolved, so a pattern with them matches nothing")
	case below == '*' && allow && !anywhere:
		return nil, errors.New("say where: ./" + pattern + " in the project, **/" + pattern + " anywhere")
	case below == '*' && !anywhere:
		glob = "**/" + glob
	}
	return newPattern(below, glob), nil
}

func hasDots(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

// match implements matcher.
func (p pathPattern) match(f *Facts, allow bool, to []hit) ([]hit, error) {
	if f.path == nil {
		return to, nil
	}
	ok, err := p.speaksOf(f, f.path, allow)
	if ok {
		to = append(to, hit{field: pathTools[f.call.Tool].field, part: f.path.given})
	}
	return to, err
}

// speaksOf reports whether the pattern is about a path. To allow, all that the
// path can turn out to be must match; otherwise one is enough, in any case of
// letters.
func (p pathPattern) speaksOf(f *Facts, u *pathUse, allow bool) (bool, error) {
	if allow {
		for _, path := range u.certain {
			if ok, err := p.covers(f, path); !ok || err != nil {
				return false, err
			}
		}
		return len(u.certain) > 0, nil
	}
	for _, path := range u.folded {
		if ok, err := p.mayCover(f, path, u.lexical != ""); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// covers is for rules that allow: only resolved roots count.
func (p pathPattern) covers(f *Facts, path string) (bool, error) {
	rel, inside := relative(p.root(f).resolved, path)
	if !inside {
		return false, nil
	}
	return doublestar.Match(p.glob, rel)
}

// mayCover is for rules that ask or deny. Where the root or the path is not
// known, it may be below any folder.
func (p pathPattern) mayCover(f *Facts, path string, known bool) (bool, error) {
	r := p.root(f)
	if p.below != '*' && (r.given == "" || !known) {
		return doublestar.Match(p.anywhere, strings.TrimPrefix(path, "/"))
	}
	if p.below == '*' {
		return doublestar.Match(p.folded, strings.TrimPrefix(path, "/"))
	}
	if rel, inside := relative(r.foldedGiven, path); inside {
		if ok, err := doublestar.Match(p.folded, rel); ok || err != nil {
			return ok, err
		}
	}
	rel, inside := relative(r.foldedResolved, path)
	if !inside || r.foldedResolved == r.foldedGiven {
		return false, nil
	}
	return doublestar.Match(p.folded, rel)
}

var systemRoot = root{"/", "/", "/", "/"}

// root returns the folder that the pattern starts from.
func (p pathPattern) root(f *Facts) *root {
	switch p.below {
	case '.':
		return f.project()
	case '~':
		return f.home()
	default:
		return &systemRoot
	}
}

// home returns the home directory, "" if it is not known. A service may run
// without HOME.
func home() string {
	if dir, err := os.UserHomeDir(); err == nil && filepath.IsAbs(dir) {
		return dir
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}

// relative returns path as seen from root, "" for root itself. Nothing is
// inside a root that is not known.
func relative(root, path string) (string, bool) {
	switch {
	case root == "":
		return "", false
	case path == root:
		return "", true
	}
	rest, inside := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
	if !inside || rest == "" || rest[0] != '/' {
		return "", false
	}
	return rest[1:], true
}

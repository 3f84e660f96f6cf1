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
	below rune // '.' the project, '~' the home directory, '/' the root, '*' any folder
	glob  string
}

// parsePath reads "./src/**" (in the project), "~/notes/**", "/etc/**" and
// "**/.env*" (below any folder). A rule that allows says which of these it is.
func parsePath(pattern string, allow bool) (matcher, error) {
	p := pathPattern{below: '*', glob: pattern}
	for _, anchor := range []string{"./", "~/", "/"} {
		if rest, ok := strings.CutPrefix(pattern, anchor); ok {
			p = pathPattern{rune(anchor[0]), rest}
		}
	}
	anywhere := strings.HasPrefix(pattern, "**/") || pattern == "**"
	switch {
	case !doublestar.ValidatePattern(p.glob):
		return nil, errors.New("the pattern is not a valid glob")
	case p.glob == "" || strings.HasPrefix(p.glob, "/"):
		return nil, errors.New("write one slash, then a path; ./** is all of the project")
	case hasDots(p.glob) || p.glob != filepath.ToSlash(p.glob):
		return nil, errors.New("a path is matched after . and .. are resolved, so a pattern with them matches nothing")
	case p.below == '*' && allow && !anywhere:
		return nil, errors.New("say where: ./" + pattern + " in the project, **/" + pattern + " anywhere")
	case p.below == '*' && !anywhere:
		p.glob = "**/" + p.glob
	}
	return p, nil
}

func hasDots(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

// match implements matcher. To allow, all that the path can turn out to be
// must match; otherwise one is enough, in any case of letters.
func (p pathPattern) match(s *subject, allow bool) ([]hit, error) {
	if s.path == nil {
		return nil, nil
	}
	candidates := s.path.possible
	if allow {
		candidates = s.path.certain
	}
	matched := 0
	for _, path := range candidates {
		ok, err := p.covers(s, path, allow)
		if err != nil {
			return nil, err
		}
		if ok {
			matched++
		}
	}
	if matched == 0 || allow && matched < len(candidates) {
		return nil, nil
	}
	return []hit{{part: s.path.given}}, nil
}

func (p pathPattern) covers(s *subject, path string, allow bool) (bool, error) {
	fold := strings.ToLower
	if allow {
		fold = func(s string) string { return s }
	}
	if p.below == '*' {
		return doublestar.Match(fold(p.glob), fold(strings.TrimPrefix(path, "/")))
	}
	roots := p.roots(s, allow)
	if !allow && (len(roots) == 0 || s.path.lexical == "") { // it may be below any folder
		return doublestar.Match(fold("**/"+p.glob), fold(strings.TrimPrefix(path, "/")))
	}
	for _, root := range roots {
		rel, inside := relative(fold(root), fold(path))
		if !inside {
			continue
		}
		if ok, err := doublestar.Match(fold(p.glob), rel); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// roots returns the folders that the pattern starts from, none if that is not
// known. Only the resolved one can allow, and "/" is no project.
func (p pathPattern) roots(s *subject, allow bool) []string {
	var root string
	switch p.below {
	case '.':
		if root = s.session.Project; filepath.Clean(root) == filepath.Dir(root) {
			return nil
		}
	case '~':
		root = s.home
	default:
		return []string{"/"}
	}
	if !filepath.IsAbs(root) {
		return nil
	}
	given := filepath.ToSlash(filepath.Clean(root))
	resolved, err := resolve(root, nil)
	switch {
	case err != nil && allow:
		return nil
	case err != nil:
		return []string{given}
	case allow:
		return []string{resolved}
	}
	return []string{given, resolved}
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

// relative returns path as seen from root, "" for root itself.
func relative(root, path string) (string, bool) {
	if path == root {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

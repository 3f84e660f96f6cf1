package review

import (
	"path"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/shell"
)

// covers reports whether a speaks about every call that b does. It may miss
// that; it never claims it falsely.
func covers(a, b policy.Rule) bool {
	switch {
	case len(a.Where) > 0 && !sameConditions(a, b):
		return false
	case a.Project != "" && a.Project != b.Project:
		return false
	case !a.Until.IsZero() && (b.Until.IsZero() || b.Until.After(a.Until)):
		return false
	case b.Effect != gatelatch.Allow && a.Effect == gatelatch.Allow:
		return false // what forbids reads more into a call
	case !coversTool(a, b):
		return false
	}
	switch {
	case a.Pattern == "" && a.Tool == "Bash" && a.Effect == gatelatch.Allow:
		return b.Effect == gatelatch.Allow // only plain commands
	case a.Pattern == "":
		return true
	case b.Pattern == "":
		return false
	case a.Tool == "Bash":
		return coversWords(a, b)
	case a.Tool == "WebFetch":
		x, y := strings.TrimPrefix(a.Pattern, "domain:"), strings.TrimPrefix(b.Pattern, "domain:")
		return x == y || strings.HasSuffix(y, "."+x)
	case strings.HasSuffix(mainField[a.Tool], "path"):
		return coversPath(a.Pattern, b.Pattern)
	}
	return a.Pattern == b.Pattern
}

func sameConditions(a, b policy.Rule) bool {
	return slices.EqualFunc(a.Where, b.Where, func(x, y policy.Condition) bool {
		return x.Field == y.Field && x.Op == y.Op && slices.Equal(x.Values, y.Values)
	})
}

var families = map[string][]string{"Edit": {"Write", "MultiEdit", "NotebookEdit"}, "Read": {"Glob", "Grep", "LS"}}

func coversTool(a, b policy.Rule) bool {
	prefix, star := strings.CutSuffix(a.Tool, "*")
	switch {
	case a.Tool == b.Tool:
		return true
	case a.Tool == "*":
		return a.Pattern == ""
	case star && strings.HasPrefix(b.Tool, prefix):
		return true
	case a.Effect != gatelatch.Allow && slices.Contains(families[a.Tool], b.Tool):
		return true
	case strings.HasPrefix(a.Tool, "mcp__") && strings.Count(a.Tool, "__") == 1:
		return strings.HasPrefix(b.Tool, a.Tool+"__")
	}
	return false
}

func coversWords(a, b policy.Rule) bool {
	x, xMore := words(a.Pattern)
	y, yMore := words(b.Pattern)
	switch {
	case a.Pattern == b.Pattern:
		return true
	case len(y) < len(x) || yMore && !xMore || !xMore && len(x) != len(y):
		return false
	}
	return slices.Equal(x, y[:len(x)])
}

// words reads the pattern of a Bash rule. One for every command has none.
func words(pattern string) (out []string, more bool) {
	text := strings.TrimSuffix(strings.TrimSuffix(pattern, ":*"), " *")
	if text == "*" || text == "" {
		return nil, true
	}
	out, _ = shell.Words(text) // it was parsed before
	return out, text != pattern
}

// coversPath knows a folder with all below it.
func coversPath(a, b string) bool {
	folder, all := strings.CutSuffix(strings.TrimSuffix(a, "/*"), "**") // ** and **/* are all below
	switch {
	case a == b:
		return true
	case !all || strings.ContainsAny(folder, `*?[{\`):
		return false
	case strings.HasSuffix(a, "/*") && b == folder+"**":
		return false // which is also about the folder itself
	case folder == "": // anywhere
		return true
	}
	start := b
	if i := strings.IndexAny(b, `*?[{\`); i >= 0 {
		start, _ = path.Split(b[:i])
	}
	return strings.HasPrefix(start, folder)
}

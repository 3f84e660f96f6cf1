package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// A Rule is one line of a policy, as data.
type Rule struct {
	Effect  gatelatch.Effect
	Text    string // as written: Bash(git push:*)
	Tool    string // the part in front of the pattern
	Pattern string // "" is any use of the tool
	Layer   string
	Source  string // file:line
	Project string // of a rule in the section of a project: its folder
	Why     string
	Until   time.Time     // zero is for good
	Within  time.Duration // how long a call that it asks about may wait; 0 is any time
	Where   []Condition
}

// A Condition is what a rule demands of one field of the input.
type Condition struct {
	Field  string   // "repo", "range.start", "files[].path"
	Op     string   // "is", "in", "matches", "at_least", "at_most", "present", "under", "domain"
	Values []string // one, unless Op is "in"
}

// String returns the condition as a person would say it.
func (c Condition) String() string { return c.Field + " " + c.Op + " " + strings.Join(c.Values, ", ") }

// A rule is a Rule, compiled.
type rule struct {
	Rule
	tool   string // exact, or a prefix
	prefix bool
	server bool    // the tool may be an MCP server, and stands for its tools
	on     matcher // nil: the tool alone
	where  []condition
	said   gatelatch.Reason // all of it but where the rule hit
}

// A hit is one place where a rule matches.
type hit struct {
	field, part string
	start, end  int
	command     int // of a shell command line that is allowed, which
}

// A matcher is the pattern of a rule. It adds the places where it matches;
// allow says in which direction to err.
type matcher interface {
	match(f *Facts, allow bool, to []hit) ([]hit, error)
}

// match adds where the rule speaks about a call.
func (r *rule) match(f *Facts, to []hit) ([]hit, error) {
	if !r.covers(f.call.Tool) {
		return to, nil
	}
	n, allow := len(to), r.Effect == gatelatch.Allow
	var err error
	switch {
	case r.on != nil:
		to, err = r.on.match(f, allow, to)
	case allow && f.shell != nil:
		to, err = anyCommand.match(f, true, to)
	default:
		to = append(to, hit{})
	}
	if err != nil || len(to) == n {
		return to[:n], err
	}
	for i := range r.where {
		at, ok := r.where[i].holds(f, allow)
		if !ok {
			return to[:n], nil
		}
		if to[n] == (hit{}) {
			to[n] = at
		}
	}
	return to, nil
}

// covers reports whether the rule is about a tool. People who forbid edits mean
// every tool that writes files, and who forbids reading also means searching;
// a rule that allows is about the tool it names.
func (r *rule) covers(tool string) bool {
	if r.names(tool) || r.Effect == gatelatch.Allow {
		return r.names(tool)
	}
	other := pathTools[tool]
	return r.tool == "Edit" && other.writes || r.tool == "Read" && other.field != "" && !other.writes
}

// names reports whether the rule names a tool. Behind a prefix that allows,
// the name must not go on with another "__": mcp__a__* is not for a server
// called a__b.
func (r *rule) names(tool string) bool {
	prefix := r.tool
	switch {
	case tool == r.tool && !r.prefix:
		return true
	case r.server:
		prefix += "__"
	case !r.prefix:
		return false
	}
	if !strings.HasPrefix(tool, prefix) || r.Effect != gatelatch.Allow {
		return strings.HasPrefix(tool, prefix)
	}
	return !strings.Contains(tool[len(prefix)-1:], "__") // with the last of the prefix: mcp__a___b
}

// ended reports whether the rule is no longer in force.
func (r *rule) ended(now time.Time) bool { return !r.Until.IsZero() && !now.Before(r.Until) }

// parseRule reads "Tool" or "Tool(pattern)".
func parseRule(text string, effect gatelatch.Effect) (rule, error) {
	r := rule{Rule: Rule{Effect: effect, Text: text}}
	tool, pattern, has := strings.Cut(text, "(")
	if has {
		var closed bool
		if pattern, closed = strings.CutSuffix(pattern, ")"); !closed {
			return r, fmt.Errorf("%q does not end in )", text)
		}
	}
	r.Tool, r.Pattern = tool, pattern
	if err := r.setTool(tool); err != nil {
		return r, err
	}
	if !has {
		return r, nil
	}
	on, err := parsePattern(tool, pattern, effect == gatelatch.Allow)
	if err != nil {
		return r, fmt.Errorf("%s: %w", text, err)
	}
	r.on = on
	return r, nil
}

func (r *rule) setTool(tool string) error {
	r.tool, r.prefix = strings.CutSuffix(tool, "*")
	if strings.Trim(r.tool, toolCharacters) != "" || tool == "" {
		return fmt.Errorf("%q is no tool name; write Tool or Tool(pattern)", tool)
	}
	rest, mcp := strings.CutPrefix(r.tool, "mcp__")
	server, _, named := strings.Cut(rest, "__")
	if !r.prefix {
		r.server = mcp && !named && server != ""
		return nil
	}
	allow := r.Effect == gatelatch.Allow
	switch {
	case tool == "*" && allow:
		return fmt.Errorf("a rule can't allow every tool")
	case tool == "*":
		return nil
	case !mcp:
		return fmt.Errorf("%q: only names of MCP tools may end in *", tool)
	case allow && (!named || server == ""):
		return fmt.Errorf("%q: to allow, name the whole server: mcp__server__*", tool)
	}
	return nil
}

const toolCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:"

func parsePattern(tool, pattern string, allow bool) (matcher, error) {
	switch {
	case pattern == "":
		return nil, fmt.Errorf("the pattern is empty; write %s alone for any use of it", tool)
	case tool == "Bash":
		return parseWords(pattern, allow)
	case pathTools[tool].field != "":
		return parsePath(pattern, allow)
	case tool == "WebFetch":
		return parseDomain(pattern)
	case tool == "Skill":
		return parseSkill(pattern)
	}
	return nil, fmt.Errorf("%s takes no pattern (only Bash, %s, WebFetch and Skill do); write %s alone, or conditions under where",
		tool, pathToolNames, tool)
}

// say makes the reason that the rule gives.
func (r *rule) say() {
	message := r.Why
	switch {
	case message != "":
	case r.Effect == gatelatch.Allow:
		message = "allowed by the rule " + r.Text
	case r.Effect == gatelatch.Ask:
		message = "the rule " + r.Text + " asks first"
	default:
		message = "denied by the rule " + r.Text
	}
	r.said = gatelatch.Reason{Effect: r.Effect, Layer: r.Layer, Rule: r.Text, Source: r.Source, Message: message}
}

func (r *rule) reason(h hit) gatelatch.Reason {
	out := r.said
	out.Field, out.Part, out.Start, out.End = h.field, h.part, h.start, h.end
	return out
}

package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// A rule is one line of a policy.
type rule struct {
	effect gatelatch.Effect
	tool   string // exact, or a prefix
	prefix bool
	on     matcher // nil: the tool alone
	text   string  // as written
	source string  // file:line
	why    string
	within time.Duration // how long a call that it asks about may wait; 0 is any time
}

// A matcher is the pattern of a rule. allow says in which direction to err.
type matcher interface {
	match(s *subject, allow bool) ([]hit, error)
}

// match returns where the rule speaks about the subject.
func (r *rule) match(s *subject) ([]hit, error) {
	if !r.names(s.call.Tool) {
		return nil, nil
	}
	allow := r.effect == gatelatch.Allow
	switch {
	case r.on != nil:
		return r.on.match(s, allow)
	case allow && s.shell != nil:
		return anyCommand.match(s, true)
	}
	return []hit{{}}, nil
}

// names reports whether the rule is about a tool. Behind a prefix that allows,
// the name must not go on with another "__": mcp__a__* is not for a server
// called a__b.
func (r *rule) names(tool string) bool {
	if !r.prefix {
		return r.tool == tool
	}
	if !strings.HasPrefix(tool, r.tool) || r.effect != gatelatch.Allow {
		return strings.HasPrefix(tool, r.tool)
	}
	return !strings.Contains(tool[len(r.tool)-1:], "__") // with the last of the prefix: mcp__a___b
}

// parseRule reads "Tool" or "Tool(pattern)".
func parseRule(text string, effect gatelatch.Effect) (rule, error) {
	r := rule{effect: effect, text: text}
	tool, pattern, has := strings.Cut(text, "(")
	if has {
		var closed bool
		if pattern, closed = strings.CutSuffix(pattern, ")"); !closed {
			return r, fmt.Errorf("%q does not end in )", text)
		}
	}
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
	if !r.prefix {
		return nil
	}
	allow := r.effect == gatelatch.Allow
	switch server, _, named := strings.Cut(strings.TrimPrefix(r.tool, "mcp__"), "__"); {
	case tool == "*" && allow:
		return fmt.Errorf("a rule can't allow every tool")
	case tool == "*":
		return nil
	case !strings.HasPrefix(r.tool, "mcp__"):
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
	return nil, fmt.Errorf("%s takes no pattern (only Bash, %s, WebFetch and Skill do); write %s alone",
		tool, pathToolNames, tool)
}

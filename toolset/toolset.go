// Package toolset says which tools an agent may see, and wraps them so that
// each call asks before it runs.
//
// The lists come from whoever runs the gateway, the tools from the agent. What
// is left of them can only be fewer than came in: no name in a list, known or
// not, ever adds one.
package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch"
)

// A Tool is something that an agent's model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of its input, as JSON schema; empty is an object without fields
	OwnerOnly   bool            // only for whoever owns the agent
	Plugin      string          // the plug-in it comes from; "" for a core tool
	Run         Runner          // nil where tools are only chosen
}

// A Call is one call of a tool. ID is the model's own; without one nothing runs.
type Call struct {
	ID    string
	Input json.RawMessage
}

// A Runner does what a tool is for. Its error is a result for the model, too.
type Runner interface {
	Run(ctx context.Context, c Call) ([]byte, error)
}

// Func is a Runner.
type Func func(ctx context.Context, c Call) ([]byte, error)

// Run implements Runner.
func (f Func) Run(ctx context.Context, c Call) ([]byte, error) { return f(ctx, c) }

// Context says for whom the tools are. The zero value gets the fewest.
type Context struct {
	Agent    string // "" leaves out the two steps of an agent
	Provider string // of the model: "openai"
	Model    string
	Profile  string // counts only where the configuration names none
	Group    string // the chat group that the agent serves
	Sandbox  bool
	Subagent bool
	Owner    bool // the sender is the owner; never believed of a request
}

// Build is the whole pipeline, five steps in this order. Schemas come before
// wrapping: what is wrapped is the tool as the model sees it. When abort ends, so
// does every tool that runs.
func Build(abort context.Context, all []Tool, c Context, p *Policy, g *Guard) ([]Tool, Trace, error) {
	tools, trace, err := Select(all, c, p)
	if err != nil {
		return nil, trace, err
	}
	tools, err = Wrap(abort, tools, g)
	return tools, trace, err
}

// Select is the first three steps: it chooses tools and does not touch what
// they do. The trace says who removed which, and why. A nil policy has no lists.
func Select(all []Tool, c Context, p *Policy) ([]Tool, Trace, error) {
	if p == nil {
		p = new(Policy)
	}
	if err := errors.Join(checkTools(all), p.Check(), p.fits(c)); err != nil {
		return nil, nil, err
	}
	var trace Trace
	tools := p.applyPatch(all, c, &trace)
	tools = p.ownerOnly(tools, c.Owner, &trace) // 1
	for _, s := range p.steps(c) {              // 2
		tools = p.apply(s, tools, all, &trace)
	}
	tools = normaliseAll(tools, &trace) // 3
	return tools, trace, nil
}

// Wrap is the last two steps: hooks and the gate around each tool, then the
// abort signal around that. A tool that is wrapped stays as it is.
func Wrap(abort context.Context, tools []Tool, g *Guard) ([]Tool, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	var out []Tool
	for _, t := range tools {
		if t.Run == nil {
			return nil, fmt.Errorf("tool %q has nothing to run", t.Name)
		}
		t = withGuard(t, g)                    // 4
		out = append(out, withAbort(abort, t)) // 5
	}
	return out, nil
}

// Limits of what an agent sends.
const (
	MaxTools = 512
	maxName  = 256
)

// checkTools refuses names that lists could mistake for one another.
func checkTools(tools []Tool) error {
	if len(tools) > MaxTools {
		return invalid("an agent has at most %d tools, got %d", MaxTools, len(tools))
	}
	seen := map[string]bool{}
	for _, t := range tools {
		name := strings.ToLower(t.Name)
		switch {
		case t.Name == "" || strings.TrimSpace(t.Name) != t.Name:
			return invalid("a tool has a name without blanks around it")
		case len(t.Name) > maxName || len(t.Plugin) > maxName:
			return invalid("the name of a tool has at most %d bytes", maxName)
		case !utf8.ValidString(t.Name) || !utf8.ValidString(t.Plugin):
			return invalid("the name of a tool is not UTF-8")
		case strings.ContainsAny(t.Name, "*:"):
			return invalid("the name of tool %q has a character that lists use", t.Name)
		case seen[name]:
			return invalid("two tools are called %q, but for case", t.Name)
		}
		seen[name] = true
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", gatelatch.ErrInvalid, fmt.Sprintf(format, args...))
}

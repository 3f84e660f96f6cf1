package policy

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// maxMatch is how long a matcher may be, maxGrants how many are kept compiled.
const (
	maxMatch  = shell.MaxPlain + 64
	maxGrants = 1024
)

// A grant is a remembered matcher. It is held to the same limits whenever it
// is used, so a store that was edited, or an older gateway, widens nothing.
type grant struct {
	rules []rule // several are for the commands of one line
	scope gatelatch.Scope
}

var (
	errOther   = errors.New("the matcher does not cover this call")
	errOutside = errors.New("the command does not run inside the project")
)

// parseGrant reads a matcher as a rule that allows, and refuses one that says
// more than a click should.
func parseGrant(match string, scope gatelatch.Scope) (*grant, error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	switch {
	case len(match) > maxMatch:
		return nil, fmt.Errorf("a matcher has at most %d bytes", maxMatch)
	case !utf8.ValidString(match) || strings.ContainsFunc(match, hidden):
		return nil, errors.New("the matcher has characters that do not show")
	}
	parts := Parts(match)
	if len(parts) > maxParts {
		return nil, fmt.Errorf("a matcher is for at most %d commands", maxParts)
	}
	g := &grant{scope: scope}
	for _, part := range parts {
		r, err := parseRule(part, gatelatch.Allow)
		if err == nil {
			err = r.narrow(scope)
		}
		if err != nil {
			return nil, err
		}
		g.rules = append(g.rules, r)
	}
	return g, nil
}

// narrow says what of a rule is more than a click should remember.
func (r *rule) narrow(scope gatelatch.Scope) error {
	switch on := r.on.(type) {
	case nil:
		return wholeTool(r, scope)
	case words:
		return on.narrow(scope)
	case pathPattern:
		return on.narrow(r.tool, scope)
	case skill:
		return notEverywhere("skill", scope)
	}
	return nil
}

func checkScope(scope gatelatch.Scope) error {
	switch scope {
	case gatelatch.ForSession, gatelatch.ForProject, gatelatch.Always:
		return nil
	case gatelatch.Once, "":
		return errors.New("what is allowed once is not remembered")
	default:
		return fmt.Errorf("scope %.20q is none of session, project, always", scope)
	}
}

// notEverywhere refuses names that a project gives: in another one the same
// name is something else.
func notEverywhere(what string, scope gatelatch.Scope) error {
	if scope == gatelatch.Always {
		return fmt.Errorf("another project may have another %s of this name; allow it in this project", what)
	}
	return nil
}

// wholeTool checks a matcher without a pattern. An MCP tool is remembered
// whatever its arguments, as people expect of "always allow this tool", but for
// the session or the project: which server a name means, the project says.
func wholeTool(r *rule, scope gatelatch.Scope) error {
	switch {
	case r.prefix:
		return fmt.Errorf("%s is more than one tool; name the one", r.Text)
	case r.tool == "Bash" || r.tool == "WebFetch" || r.tool == "Skill" || pathTools[r.tool].field != "":
		return fmt.Errorf("%s alone is too much to remember; write %s(…)", r.tool, r.tool)
	case r.tool == "AskUserQuestion" || r.tool == "ExitPlanMode":
		return fmt.Errorf("%s is for a person to answer each time", r.tool)
	case runsByName(r.tool):
		return fmt.Errorf("%s seems to run what its arguments say", r.tool)
	case strings.HasPrefix(r.tool, "mcp__"):
		return notEverywhere("server", scope)
	}
	return nil
}

func runsByName(tool string) bool {
	tool = strings.ToLower(tool)
	for _, part := range []string{"exec", "shell", "bash", "terminal", "command", "run_code", "runcode", "browser_evaluate"} {
		if strings.Contains(tool, part) {
			return true
		}
	}
	return false
}

// runsByField are fields of an input that say what to run.
var runsByField = map[string]bool{
	"command": true, "commands": true, "cmd": true, "argv": true, "script": true, "code": true, "shell": true, "program": true, "executable": true,
}

// narrow says what is too much to remember of a shell command.
func (w words) narrow(scope gatelatch.Scope) error {
	if len(w.want) == 0 {
		return errors.New("every command is too much to remember")
	}
	program := w.want[0]
	switch why := shell.Runs(w.want); {
	case why != "":
		return errors.New(why)
	case w.more && !shell.Bounded(w.want):
		return fmt.Errorf("words behind %s may do anything; leave out the * or write a rule into the policy", strings.Join(w.want, " "))
	case scope == gatelatch.Always && shell.Builds(program):
		return fmt.Errorf("%s runs what the files of a project say; allow it for the session or the project", program)
	}
	return nil
}

// remembers reports whether the rule, in a grant, is about a tool. Edit stands
// for every tool that writes a file: people allow edits, not the tool that makes
// them.
func (r *rule) remembers(tool string) bool {
	return r.tool == tool || r.tool == "Edit" && pathTools[tool].writes
}

// covers returns where the grant allows a call, or why it does not. The call
// gives no concern.
func (g *grant) covers(f *Facts) (hit, error) {
	if f.shell != nil {
		return f.lineStays(g)
	}
	r := g.rules[0]
	if len(g.rules) > 1 || !r.remembers(f.call.Tool) {
		return hit{}, errOther
	}
	if r.on == nil {
		return hit{}, f.toolStays()
	}
	hits, err := r.on.match(f, true, nil)
	if err != nil || len(hits) == 0 {
		return hit{}, errors.Join(errOther, err)
	}
	switch on := r.on.(type) {
	case pathPattern:
		err = f.pathStays(on, g.scope)
	case domain:
		if !strings.Contains(on.name, ".") && f.web.host != on.name {
			err = fmt.Errorf("%s is no domain but a whole part of the net", on.name)
		}
	}
	return hits[0], err
}

// toolStays checks what a tool without a pattern would do, as far as its input
// shows.
func (f *Facts) toolStays() error {
	for _, m := range f.fields {
		if runsByField[strings.ToLower(m.Name)] {
			return fmt.Errorf("%s seems to run what its field %q says", f.call.Tool, m.Name)
		}
	}
	if r := f.protectedText(); r != nil {
		return errors.New(r.Message)
	}
	return nil
}

// grantCache keeps grants compiled, so that judging does not parse them.
type grantCache struct {
	mu   sync.Mutex
	kept map[grantKey]compiled
}

type grantKey struct {
	match string
	scope gatelatch.Scope
}

type compiled struct {
	grant *grant
	err   error
}

func (c *grantCache) get(match string, scope gatelatch.Scope) (*grant, error) {
	if c == nil || len(match) > maxMatch {
		return parseGrant(match, scope)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := grantKey{match, scope}
	got, has := c.kept[key]
	if !has {
		if c.kept == nil || len(c.kept) >= maxGrants {
			c.kept = map[grantKey]compiled{}
		}
		got.grant, got.err = parseGrant(match, scope)
		c.kept[key] = got
	}
	return got.grant, got.err
}

package policy

import (
	"errors"
	"fmt"
	"slices"
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
	rule  rule
	scope gatelatch.Scope
}

var errOther = errors.New("the matcher does not cover this call")

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
	r, err := parseRule(match, gatelatch.Allow)
	if err != nil {
		return nil, err
	}
	switch on := r.on.(type) {
	case nil:
		err = wholeTool(&r, scope)
	case words:
		err = on.narrow(scope)
	case pathPattern:
		err = on.narrow(r.tool, scope)
	case skill:
		err = notEverywhere("skill", scope)
	}
	return &grant{r, scope}, err
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

// names reports whether the grant is about a tool. Edit stands for every tool
// that writes a file: people allow edits, not the tool that makes them.
func (g *grant) names(tool string) bool {
	return g.rule.tool == tool || g.rule.tool == "Edit" && pathTools[tool].writes
}

// covers returns where the grant allows a call, or why it does not. The call
// gives no concern.
func (g *grant) covers(f *Facts) (hit, error) {
	if !g.names(f.call.Tool) {
		return hit{}, errOther
	}
	if g.rule.on == nil {
		return hit{}, f.toolStays()
	}
	hits, err := g.rule.on.match(f, true, nil)
	if err != nil || len(hits) == 0 {
		return hit{}, errors.Join(errOther, err)
	}
	switch on := g.rule.on.(type) {
	case words:
		err = f.lineStays(on, hits, g.scope)
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

// lineStays checks that the rest of the line only reads, the words that a
// prefix left open, and that a command remembered for a project runs in it.
func (f *Facts) lineStays(w words, hits []hit, scope gatelatch.Scope) error {
	u := f.shell
	covered := map[int]bool{}
	for _, h := range hits {
		covered[h.command] = true
		if dir := u.facts.Commands[h.command].Dir; scope == gatelatch.ForProject && !f.inProject(f.newPathUse(dir, nil).certain...) {
			return errors.New("the command does not run inside the project")
		}
		var words []string
		for _, w := range u.facts.Commands[h.command].Words {
			words = append(words, w.Text)
		}
		if why := shell.Runs(words); why != "" {
			return errors.New(why)
		}
		if err := f.openStays(w, h.command); err != nil {
			return err
		}
	}
	for _, i := range u.open {
		if !covered[i] {
			return errOther
		}
	}
	if !u.facts.Readable() || slices.ContainsFunc(u.facts.Effects, func(e shell.Effect) bool { return e.Command < 0 }) {
		return errOther
	}
	if (scope == gatelatch.ForProject || w.more && shell.Builds(w.want[0])) && !f.inProject(f.newPathUse(f.call.Dir, nil).certain...) {
		return errors.New("the command does not run inside the project")
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

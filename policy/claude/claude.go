// Package claude turns the permission rules in Claude Code's settings into
// rules of ours.
//
// It never widens: what the new rules allow, the settings allowed. A rule that
// allows and can't be said exactly becomes narrower or is left out; one that
// asks or denies becomes wider, and is never left out. Either way a comment
// says so.
package claude

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
)

// A Scope is who a settings file is for.
type Scope string

// Scopes, the strongest first.
const (
	Managed Scope = "managed"
	Local   Scope = "local"
	Project Scope = "project"
	User    Scope = "user"
)

// A File is what one settings file says about permissions.
type File struct {
	Path        string
	Scope       Scope
	Project     string // folder of the project that the settings are for, "" for all
	Allow       []string
	Ask         []string
	Deny        []string
	Directories []string // where files may be read beside the project
	Mode        string
	ManagedOnly bool // no other file's rules count
}

// Parse reads a settings file. project is the folder that it is for, "" if it
// is for all.
func Parse(path string, scope Scope, project string, data []byte) (File, error) {
	var s struct {
		Permissions struct {
			Allow       []string `json:"allow"`
			Ask         []string `json:"ask"`
			Deny        []string `json:"deny"`
			Directories []string `json:"additionalDirectories"`
			Mode        string   `json:"defaultMode"`
		} `json:"permissions"`
		ManagedOnly bool `json:"allowManagedPermissionRulesOnly"`
	}
	if err := strictjson.UnmarshalLoose(bytes.TrimPrefix(data, []byte("\uFEFF")), &s); err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	p := s.Permissions
	return File{
		Path: path, Scope: scope, Project: project, Allow: p.Allow, Ask: p.Ask, Deny: p.Deny,
		Directories: p.Directories, Mode: p.Mode, ManagedOnly: s.ManagedOnly && scope == Managed,
	}, nil
}

// A Rule is one rule of ours.
type Rule struct {
	Effect  gatelatch.Effect `json:"effect"`
	Text    string           `json:"rule"`
	Field   string           `json:"field,omitempty"`   // a field of the input
	Matches string           `json:"matches,omitempty"` // and what all of it must match
	Project string           `json:"project,omitempty"` // the only project where it holds
	File    string           `json:"file"`
	Was     string           `json:"was"`
	Note    string           `json:"note,omitempty"` // how it differs from what it was
}

// Left is a rule that was left out.
type Left struct {
	Effect  gatelatch.Effect `json:"effect"`
	Project string           `json:"project,omitempty"`
	File    string           `json:"file"`
	Was     string           `json:"was"`
	Why     string           `json:"why"`
}

// An Import is what the settings came to.
type Import struct {
	Rules []Rule   `json:"rules"`
	Left  []Left   `json:"left_out"`
	Notes []string `json:"notes"`
}

// Convert turns the settings of all files into rules.
func Convert(files []File) *Import {
	im := &Import{Rules: []Rule{}, Left: []Left{}, Notes: []string{}}
	c := converter{Import: im}
	for _, f := range files {
		c.managed = c.managed || f.ManagedOnly
		for _, text := range append(append([]string{}, f.Deny...), f.Ask...) {
			tool, _, _ := strings.Cut(text, "(")
			c.files = c.files || tool == "Read" || fileTools[tool]
		}
	}
	for _, f := range files {
		c.file = f
		for _, list := range []struct {
			effect gatelatch.Effect
			texts  []string
		}{{gatelatch.Deny, f.Deny}, {gatelatch.Ask, f.Ask}, {gatelatch.Allow, f.Allow}} {
			for _, text := range list.texts {
				c.convert(list.effect, text)
			}
		}
		c.rest()
	}
	return im
}

type converter struct {
	*Import
	file    File
	managed bool // only managed rules count
	files   bool // some files are not to be read or written

	effect gatelatch.Effect
	was    string
}

// errExact is why a rule that allows is left out.
var errExact = errors.New("it can't be said exactly")

func (c *converter) convert(effect gatelatch.Effect, text string) {
	c.effect, c.was = effect, strings.TrimSpace(text)
	if c.managed && c.file.Scope != Managed && effect == gatelatch.Allow {
		c.leave(errors.New("only rules of managed settings count"))
		return
	}
	tool, pattern, has := strings.Cut(c.was, "(")
	pattern, closed := strings.CutSuffix(pattern, ")")
	var rules []Rule
	var err error
	switch {
	case has != closed || tool == "":
		err = errors.New("it is no rule")
	case tool == "Bash":
		rules, err = c.bash(pattern)
	case tool == "Read" || fileTools[tool]:
		rules, err = c.path(tool, pattern, has)
	case tool == "WebFetch" && has:
		rules, err = c.web(pattern)
	case strings.HasPrefix(tool, "mcp__") && !has:
		rules = []Rule{{Text: server(tool)}}
	case has && effect == gatelatch.Allow && tool != "Skill":
		err = errors.New("what is in its brackets can't be said here")
	case has && (tool != "Skill" || strings.ContainsAny(pattern, "*:")):
		rules = []Rule{{Text: tool, Note: "what is in its brackets can't be said here, so it is for every use"}}
	default:
		rules = []Rule{{Text: c.was}}
	}
	c.take(rules, err)
}

// server gives the whole of an MCP server the form that it has here.
func server(tool string) string {
	if name := strings.TrimPrefix(tool, "mcp__"); !strings.Contains(name, "__") && !strings.HasSuffix(name, "*") {
		return tool + "__*"
	}
	return tool
}

// take adds rules that are valid. An allow that is not is left out; anything
// else becomes a rule about the whole tool, and at worst about all.
func (c *converter) take(rules []Rule, err error) {
	for _, r := range rules {
		if err == nil {
			err = c.valid(r)
		}
	}
	if err != nil && c.effect == gatelatch.Allow {
		c.leave(err)
		return
	}
	if err != nil {
		tool, _, _ := strings.Cut(c.was, "(")
		note := fmt.Sprintf("stricter: %v, so it is for every use", err)
		rules = []Rule{{Text: tool, Note: note}}
		if c.valid(rules[0]) != nil {
			rules = []Rule{{Text: "*", Note: note + " of every tool"}}
		}
	}
	for _, r := range rules {
		r.Effect, r.File, r.Was, r.Project = c.effect, c.file.Path, c.was, c.file.Project
		c.Rules = append(c.Rules, r)
	}
}

func (c *converter) leave(why error) {
	c.Left = append(c.Left, Left{Effect: c.effect, Project: c.file.Project, File: c.file.Path, Was: c.was, Why: why.Error()})
}

// valid tries the rule alone.
func (c *converter) valid(r Rule) error {
	r.Effect, r.Project = c.effect, c.file.Project
	_, err := policy.Parse("", (&Import{Rules: []Rule{r}}).YAML())
	if err == nil {
		return nil
	}
	text := strings.TrimLeft(err.Error(), ":0123456789 ") // the line of no file
	return errors.New(strings.TrimPrefix(text, r.Text+": "))
}

// rest takes over what are no rules.
func (c *converter) rest() {
	for _, dir := range c.file.Directories {
		c.effect, c.was = gatelatch.Allow, "additionalDirectories: "+dir
		base, ok := c.folder(dir)
		switch {
		case c.managed && c.file.Scope != Managed:
			c.leave(errors.New("only rules of managed settings count"))
		case !ok:
			c.leave(errors.New("it is relative to where the agent starts"))
		default:
			c.take([]Rule{{Text: "Read(" + base + "/**)"}, {Text: "Glob(" + base + "/**)"}, {Text: "LS(" + base + "/**)"}}, nil)
		}
	}
	switch c.file.Mode {
	case "", "default":
	case "plan", "dontAsk":
		c.Notes = append(c.Notes, fmt.Sprintf("%s: defaultMode %s is not taken over; what no rule allows is asked", c.file.Path, c.file.Mode))
	default:
		c.Notes = append(c.Notes, fmt.Sprintf("%s: defaultMode %s is not taken over; choose a mode for each session", c.file.Path, c.file.Mode))
	}
}

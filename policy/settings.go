package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch"
)

// settings are what a file says besides rules. What it does not say is empty.
type settings struct {
	mode   gatelatch.Mode
	modeAt string
	skip   map[string]skip // by its name
	exec   *exec
}

// A skip says whether to leave out asking about one type of call.
type skip struct {
	on bool
	at string
}

// The switches. Each is about calls that no rule speaks about.
const (
	skipEdits  = "edits"
	skipBash   = "bash"
	skipSkills = "skills"
	skipMCP    = "mcp"
)

// exec says how shell commands are dealt with that no rule speaks about.
type exec struct {
	security, ask, at string
	said              bool   // security or ask was given
	reads             string // "" is not said
}

// Words of exec.
const (
	execDeny      = "deny"
	execAllowlist = "allowlist"
	execFull      = "full"
	askOff        = "off"
	askOnMiss     = "on-miss"
	askAlways     = "always"
	readsAllow    = "allow"
	readsAsk      = "ask"
)

// A section is what a file says for the sessions of one project.
type section struct {
	path  string
	layer *layer
}

// setting reads one key of a file, or of a section in it.
func (p *parser) setting(key string, k, v *yaml.Node) (err error) {
	l := p.layer
	switch key {
	case "allow", "ask", "deny":
		if l.name == layerProject && key == "allow" {
			return p.errorf(k, "a project's file can only ask and deny; write what to allow into your own policy.yaml, under projects")
		}
		return p.list(v, effects[key])
	case "mode":
		l.modeAt = p.at(k)
		l.mode, err = p.mode(v)
		return err
	case "exec":
		if p.section {
			return p.errorf(k, "exec stands outside of projects")
		}
		l.exec, err = p.exec(k, v)
		return err
	case "skip", "projects":
		if l.name == layerProject {
			return p.errorf(k, "a project's file can only tighten; %s is for your own policy.yaml", key)
		}
		if key == "skip" {
			return p.skips(v)
		}
		return p.projects(k, v)
	}
	known := "version, allow, ask, deny, mode, skip, exec and projects"
	switch {
	case p.section:
		known = "path, allow, ask, deny, mode and skip"
	case l.name == layerProject:
		known = "version, ask, deny, mode and exec"
	}
	return p.errorf(k, "unknown key %q; there are %s", key, known)
}

func (p *parser) mode(v *yaml.Node) (gatelatch.Mode, error) {
	word, err := p.text(v)
	if err != nil {
		return "", err
	}
	mode, err := gatelatch.ParseMode(word)
	switch {
	case err != nil:
		return "", p.errorf(v, "mode is one of default, acceptEdits, plan and bypassPermissions, not %.40q", word)
	case p.layer.name == layerProject && mode != gatelatch.ModePlan:
		return "", p.errorf(v, "a project's file can only tighten: its mode is plan, or not said")
	}
	return mode, nil
}

func (p *parser) skips(v *yaml.Node) error {
	p.layer.skip = map[string]skip{}
	return p.mapping(v, func(key string, k, v *yaml.Node) error {
		if !slices.Contains([]string{skipEdits, skipBash, skipSkills, skipMCP}, key) {
			return p.errorf(k, "unknown switch %q; there are edits, bash, skills and mcp", key)
		}
		on, err := p.boolean(key, v)
		p.layer.skip[key] = skip{on, p.at(k)}
		return err
	})
}

func (p *parser) boolean(key string, v *yaml.Node) (bool, error) {
	if v.Kind != yaml.ScalarNode || v.Value != "true" && v.Value != "false" || v.ShortTag() != "!!bool" {
		return false, p.errorf(v, "%s is true or false", key)
	}
	return v.Value == "true", nil
}

func (p *parser) exec(k, v *yaml.Node) (*exec, error) {
	e := &exec{security: execAllowlist, ask: askOnMiss, at: p.at(k)}
	return e, p.mapping(v, func(key string, k, v *yaml.Node) error {
		word, err := p.text(v)
		if on := v.Kind == yaml.ScalarNode && v.ShortTag() == "!!bool" && strings.EqualFold(v.Value, askOff); on {
			word, err = askOff, nil // YAML 1.1 takes it for a bool
		}
		if err != nil {
			return err
		}
		switch {
		case word == execFull && p.layer.name == layerProject:
			return p.errorf(v, "a project's file can only tighten: security is deny or allowlist")
		case key == "reads" && word == readsAllow && p.layer.name == layerProject:
			return p.errorf(v, "a project's file can only tighten: reads is ask, or not said")
		case key == "reads" && (word == readsAllow || word == readsAsk):
			e.reads = word
			return nil
		case key == "reads":
			return p.errorf(v, "reads is allow or ask, not %.40q", word)
		case key == "security" && slices.Contains([]string{execDeny, execAllowlist, execFull}, word):
			e.security = word
		case key == "ask" && slices.Contains([]string{askOff, askOnMiss, askAlways}, word):
			e.ask = word
		case key == "security":
			return p.errorf(v, "security is one of deny, allowlist and full, not %.40q", word)
		case key == "ask":
			return p.errorf(v, "ask is one of off, on-miss and always, not %.40q", word)
		default:
			return p.errorf(k, "unknown key %q; exec has security, ask and reads", key)
		}
		e.said = true
		return nil
	})
}

// maxSections is how many projects one file may speak about: each is looked up
// for every call.
const maxSections = 200

func (p *parser) projects(k, v *yaml.Node) error {
	switch {
	case p.section:
		return p.errorf(k, "a project has no projects in it")
	case empty(v):
		return nil
	case v.Kind != yaml.SequenceNode:
		return p.errorf(v, "projects is a list, each with a path")
	case len(v.Content) > maxSections:
		return p.errorf(v, "there are more than %d projects", maxSections)
	}
	for _, item := range v.Content {
		if err := p.project(item); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) project(n *yaml.Node) error {
	s := section{layer: &layer{name: p.layer.name}}
	in := parser{name: p.name, now: p.now, layer: s.layer, section: true}
	err := in.mapping(n, func(key string, k, v *yaml.Node) (err error) {
		if key != "path" {
			return in.setting(key, k, v)
		}
		if s.path, err = in.text(v); err != nil {
			return err
		}
		rest, inHome := strings.CutPrefix(s.path, "~/")
		if !inHome {
			rest, _ = strings.CutPrefix(s.path, "/")
		}
		if rest == s.path || rest == "" || hasDots(rest) {
			return in.errorf(v, "path is a folder: ~/src/app or /srv/app")
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case s.path == "":
		return in.errorf(n, "a project needs its path")
	}
	for i := range s.layer.rules {
		s.layer.rules[i].Project = s.path
	}
	s.layer.index = newIndex(s.layer.rules)
	p.layer.warnings = append(p.layer.warnings, s.layer.warnings...)
	p.layer.sections = append(p.layer.sections, s)
	return nil
}

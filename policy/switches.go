package policy

import (
	"strings"

	"github.com/gatelatch/gatelatch"
)

// skipped returns why a switch leaves out asking, nil if none does.
func (s *Set) skipped(f *Facts, out *said) *gatelatch.Reason {
	name := f.skipName()
	if name == "" {
		return nil
	}
	var allows *gatelatch.Reason
	for _, l := range s.layers {
		sw, said := l.skipIn(f, name)
		switch {
		case said && !sw.on:
			return nil
		case said && allows == nil:
			allows = &gatelatch.Reason{Effect: gatelatch.Allow, Layer: l.name, Source: sw.at, Rule: "skip " + name, Message: "asking is skipped for " + skipWords[name]}
		}
	}
	if allows == nil {
		return nil
	}
	if why := f.forPeople(); why != "" {
		out.why = why
		return nil
	}
	return allows
}

var skipWords = map[string]string{
	skipEdits: "file edits", skipBash: "shell commands", skipSkills: "skills", skipMCP: "MCP tools",
}

// skipName returns the switch that is about a call, "" if none is.
func (f *Facts) skipName() string {
	switch tool := f.call.Tool; {
	case tool == "Bash":
		return skipBash
	case pathTools[tool].writes:
		return skipEdits
	case tool == "Skill":
		return skipSkills
	case strings.HasPrefix(tool, "mcp__"):
		return skipMCP
	}
	return ""
}

// skipIn returns what a file says about a switch. The section of the nearest
// project counts before the file.
func (l *layer) skipIn(f *Facts, name string) (skip, bool) {
	out, said := l.skip[name]
	nearest := 0
	for i := range l.sections {
		s := &l.sections[i]
		sw, has := s.layer.skip[name]
		if !has || len(s.path) < nearest {
			continue
		}
		if certain, possible := f.inSection(s); certain || possible && !sw.on {
			nearest, out, said = len(s.path), sw, true
		}
	}
	return out, said
}

func (e *exec) reason(effect gatelatch.Effect, layer, message string) *gatelatch.Reason {
	return &gatelatch.Reason{
		Effect: effect, Layer: layer, Source: e.at, Rule: "exec security: " + e.security + ", ask: " + e.ask, Field: "command", Message: message,
	}
}

// always returns what exec says about any shell command, nil if nothing.
func (e *exec) always(f *Facts, layer string) *gatelatch.Reason {
	switch {
	case e == nil || !e.said || f.shell == nil:
		return nil
	case e.security == execDeny:
		return e.reason(gatelatch.Deny, layer, "shell commands are denied here")
	case e.ask == askAlways:
		return e.reason(gatelatch.Ask, layer, "every shell command is asked about")
	}
	return nil
}

// onMiss returns what exec says about a shell command that nothing allows.
func (e *exec) onMiss(f *Facts, layer string) *gatelatch.Reason {
	switch {
	case e == nil || !e.said || f.shell == nil:
		return nil
	case e.security == execAllowlist && e.ask == askOff:
		return e.reason(gatelatch.Deny, layer, "only listed shell commands run here, and this is none")
	case e.security == execAllowlist:
		return e.reason(gatelatch.Ask, layer, f.askedAbout()[0].Message)
	}
	if why := f.forPeople(); why != "" {
		return e.reason(gatelatch.Ask, layer, why)
	}
	if layer == layerProject {
		return nil
	}
	return e.reason(gatelatch.Allow, layer, "shell commands that no rule speaks about are allowed")
}

package toolset

import (
	"fmt"
	"slices"
	"strings"
)

// Labels of the steps that are not lists.
const (
	ApplyPatchLabel = "apply_patch"
	OwnerOnlyLabel  = "owner-only"
	SchemaLabel     = "schema"
)

// applyPatch leaves out apply_patch for models that do not know its format (O13).
func (p *Policy) applyPatch(tools []Tool, c Context, trace *Trace) []Tool {
	return keep(tools, Step{Label: ApplyPatchLabel}, trace, func(t Tool) string {
		if canonical(t.Name) != "apply_patch" {
			return ""
		}
		return p.noPatch(c)
	})
}

func (p *Policy) noPatch(c Context) string {
	a := p.ApplyPatch
	openAI := strings.EqualFold(c.Provider, "openai") || strings.EqualFold(c.Provider, "openai-codex")
	switch {
	case a.Enabled != nil && !*a.Enabled:
		return "it is turned off"
	case a.Enabled == nil && !openAI:
		return "it is off for providers other than OpenAI"
	case len(a.Models) > 0 && !slices.ContainsFunc(a.Models, func(m string) bool {
		return m != "" && (strings.EqualFold(m, c.Model) || strings.EqualFold(m, fullModel(c)))
	}):
		return "the model is not among those that get it"
	}
	return ""
}

// ownerOnly removes what is the owner's alone, unless the sender is (O1).
func (p *Policy) ownerOnly(tools []Tool, owner bool, trace *Trace) []Tool {
	more := p.expand(p.OwnerOnly, tools)
	return keep(tools, Step{Label: OwnerOnlyLabel}, trace, func(t Tool) string {
		if _, listed := matches(more, t); owner || !t.OwnerOnly && !listed {
			return ""
		}
		return "it is for the owner, and the sender is not"
	})
}

// apply is one list over the tools that are left. all are those that came in:
// a plug-in is loaded also if a step before removed its tools.
func (p *Policy) apply(s step, tools, all []Tool, trace *Trace) []Tool {
	done := Step{Label: s.label, Rule: s.String()}
	if s.Allow == nil && len(s.Deny) == 0 {
		return keep(tools, done, trace, func(Tool) string { return "" })
	}
	allow, deny := p.expand(s.Allow, all), p.expand(s.Deny, all)
	coreStays := s.coreStays && p.onlyUnloaded(allow, all)
	switch unknown := p.unknown(slices.Concat(allow, deny), all); {
	case coreStays:
		done.Warnings = []string{fmt.Sprintf("the allow-list names only tools of plug-ins that are not loaded (%s): core tools stay", quoted(allow))}
	case len(unknown) > 0:
		done.Warnings = []string{"no tool is called " + quoted(unknown)}
	}
	return keep(tools, done, trace, func(t Tool) string {
		if entry, ok := matches(deny, t); ok {
			return fmt.Sprintf("denied by %q", entry)
		}
		_, ok := matches(allow, t)
		if ok || s.Allow == nil || coreStays && p.core(t) {
			return ""
		}
		return "not in the allow-list"
	})
}

// onlyUnloaded reports whether an allow-list has nothing but names of
// registered plug-in tools, none of them loaded. A name that nobody knows is
// not one: it must not widen the list.
func (p *Policy) onlyUnloaded(allow []string, all []Tool) bool {
	for _, name := range allow {
		if !p.registered(name) || loaded(name, all) {
			return false
		}
	}
	return len(allow) > 0
}

// unknown are the entries that stand for no tool, loaded or registered. Those
// of built-in groups are no oversight.
func (p *Policy) unknown(list []string, all []Tool) (out []string) {
	for _, name := range list {
		if !p.registered(name) && !loaded(name, all) && !builtIn(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func builtIn(name string) bool {
	for _, tools := range groups {
		if slices.Contains(tools, name) {
			return true
		}
	}
	return strings.Contains(name, "*") || name == "image"
}

func loaded(name string, all []Tool) bool {
	return slices.ContainsFunc(all, func(t Tool) bool { return glob(name, canonical(t.Name)) })
}

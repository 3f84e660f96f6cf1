package toolset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
)

// A FieldError says what is wrong in a Policy, and where: a path such as
// ["agents" "main" "allow" "2"].
type FieldError struct {
	Path []string
	What string
}

func (e *FieldError) Error() string { return strings.Join(e.Path, ".") + ": " + e.What }

// Unwrap makes errors.Is(err, gatelatch.ErrInvalid) hold.
func (e *FieldError) Unwrap() error { return gatelatch.ErrInvalid }

// Check refuses what can't be meant: unknown profiles, groups and plug-ins. A
// name of a tool may be that of one that is not there now.
func (p *Policy) Check() error {
	c := checker{p: p}
	c.list(p.List)
	c.known(p.Profile, "profile")
	c.lists(p.Profiles, "profiles")
	c.providers(p.Providers, "providers")
	for _, name := range slices.Sorted(maps.Keys(p.Agents)) {
		a := p.Agents[name]
		c.list(a.List, "agents", name)
		c.known(a.Profile, "agents", name, "profile")
		c.providers(a.Providers, "agents", name, "providers")
	}
	c.lists(p.Groups, "groups")
	c.list(p.Sandbox, "sandbox")
	c.list(p.Subagent, "subagent")
	c.plain(p.ToolGroups, "tool_groups")
	c.plain(p.Plugins, "plugins")
	distinct(&c, p.ToolGroups, "tool_groups")
	distinct(&c, p.Plugins, "plugins")
	if _, taken := p.ToolGroups["plugins"]; taken {
		c.fail("this group stands for all plug-ins", "tool_groups", "plugins")
	}
	c.entries(p.OwnerOnly, "owner_only")
	for i, key := range p.Owners {
		if !strings.HasPrefix(key, "key_") {
			c.fail(fmt.Sprintf("%q is not the id of a key", key), "owners", fmt.Sprint(i))
		}
	}
	if c.err == nil {
		return nil // not a nil *FieldError in an error
	}
	return c.err
}

// checker keeps the first fault.
type checker struct {
	p   *Policy
	err *FieldError
}

func (c *checker) fail(what string, path ...string) {
	if c.err == nil {
		c.err = &FieldError{slices.Clone(path), what}
	}
}

func (c *checker) lists(ls map[string]List, path ...string) {
	for _, name := range slices.Sorted(maps.Keys(ls)) {
		c.list(ls[name], append(slices.Clone(path), name)...)
	}
}

func (c *checker) list(l List, path ...string) {
	c.entries(l.Allow, append(slices.Clone(path), "allow")...)
	c.entries(l.Deny, append(slices.Clone(path), "deny")...)
}

func (c *checker) providers(ps map[string]Provider, path ...string) {
	distinct(c, ps, path...)
	for _, name := range slices.Sorted(maps.Keys(ps)) {
		at := append(slices.Clone(path), name)
		c.list(ps[name].List, at...)
		c.known(ps[name].Profile, append(slices.Clone(at), "profile")...)
	}
}

func (c *checker) known(profile string, path ...string) {
	if profile != "" && !c.p.knowsProfile(profile) {
		c.fail(fmt.Sprintf("there is no profile %q", profile), path...)
	}
}

func (c *checker) entries(list []string, path ...string) {
	for i, entry := range list {
		if what := c.wrong(canonical(entry)); what != "" {
			c.fail(what, append(slices.Clone(path), fmt.Sprint(i))...)
		}
	}
}

func (c *checker) wrong(entry string) string {
	group, isGroup := strings.CutPrefix(entry, groupPrefix)
	plugin, isPlugin := strings.CutPrefix(entry, pluginPrefix)
	switch {
	case entry == "":
		return "an entry is empty"
	case entry == anyPlugin:
	case isGroup && c.p.toolGroup(group) == nil:
		return fmt.Sprintf("there is no group of tools %q", group)
	case isPlugin && !c.plugin(plugin):
		return fmt.Sprintf("no plug-in %q is registered", plugin)
	case !isGroup && !isPlugin && strings.Contains(entry, ":"):
		return fmt.Sprintf("%q is neither a tool, group:NAME nor plugin:NAME", entry)
	}
	return ""
}

func (c *checker) plugin(id string) bool {
	for name := range c.p.Plugins {
		if strings.EqualFold(name, id) {
			return true
		}
	}
	return false
}

// distinct refuses names that differ only in case: one would hide the other.
func distinct[V any](c *checker, m map[string]V, path ...string) {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if seen[strings.ToLower(name)] {
			c.fail("the name differs from another only in case", append(slices.Clone(path), name)...)
		}
		seen[strings.ToLower(name)] = true
	}
}

// plain refuses anything but names of tools.
func (c *checker) plain(sets map[string][]string, path ...string) {
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		for i, name := range sets[set] {
			if name = canonical(name); name == "" || strings.ContainsAny(name, "*:") {
				c.fail(fmt.Sprintf("%q is not the name of a tool", name), append(slices.Clone(path), set, fmt.Sprint(i))...)
			}
		}
	}
}

package toolset

import (
	"maps"
	"slices"
	"strings"
)

// groups are the built-in tool groups; a list names one as "group:fs".
var groups = map[string][]string{
	"fs":         {"read", "write", "edit", "apply_patch"},
	"runtime":    {"exec", "process"},
	"web":        {"web_search", "web_fetch"},
	"memory":     {"memory_search", "memory_get"},
	"sessions":   {"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "session_status"},
	"ui":         {"browser", "canvas"},
	"automation": {"cron", "gateway"},
	"messaging":  {"message"},
	"nodes":      {"nodes"},
}

// profiles are the built-in ones.
var profiles = map[string]List{
	"minimal":   {Allow: []string{"session_status"}},
	"coding":    {Allow: []string{"group:fs", "group:runtime", "group:sessions", "group:memory", "image"}},
	"messaging": {Allow: []string{"group:messaging", "sessions_list", "sessions_history", "sessions_send", "session_status"}},
	"full":      {},
}

// aliases are other names for the same tool.
var aliases = map[string]string{"bash": "exec", "apply-patch": "apply_patch"}

// canonical is a name as lists compare it: without regard to case.
func canonical(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if other, ok := aliases[name]; ok {
		return other
	}
	return name
}

const (
	groupPrefix  = "group:"
	pluginPrefix = "plugin:"
	anyPlugin    = "group:plugins"
)

// expand replaces groups and plug-ins by the names in them. all are the tools
// that are loaded.
func (p *Policy) expand(list []string, all []Tool) []string {
	var out []string
	for _, entry := range list {
		entry = canonical(entry)
		group, isGroup := strings.CutPrefix(entry, groupPrefix)
		plugin, isPlugin := strings.CutPrefix(entry, pluginPrefix)
		switch {
		case entry == anyPlugin:
			out = append(out, p.pluginTools("", all)...)
		case isGroup:
			for _, name := range p.toolGroup(group) {
				out = append(out, canonical(name))
			}
		case isPlugin:
			out = append(out, p.pluginTools(plugin, all)...)
		default:
			out = append(out, entry)
		}
	}
	return out
}

// toolGroup returns the tools of a group: names only, groups hold no groups.
func (p *Policy) toolGroup(name string) []string {
	for n, tools := range p.ToolGroups {
		if strings.EqualFold(n, name) {
			return tools
		}
	}
	return groups[name]
}

// pluginTools are the tools of a plug-in, or of all, registered or loaded.
func (p *Policy) pluginTools(plugin string, all []Tool) []string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(p.Plugins)) {
		if plugin == "" || strings.EqualFold(id, plugin) {
			for _, name := range p.Plugins[id] {
				out = append(out, canonical(name))
			}
		}
	}
	for _, t := range all {
		if t.Plugin != "" && (plugin == "" || strings.EqualFold(t.Plugin, plugin)) {
			out = append(out, canonical(t.Name))
		}
	}
	return out
}

// registered reports whether a plug-in is known to have a tool of that name.
func (p *Policy) registered(name string) bool {
	for _, tools := range p.Plugins {
		for _, t := range tools {
			if canonical(t) == name {
				return true
			}
		}
	}
	return false
}

// core reports whether a tool is the agent's own. What is registered for a
// plug-in is that plug-in's, whatever the agent says.
func (p *Policy) core(t Tool) bool { return t.Plugin == "" && !p.registered(canonical(t.Name)) }

// matches finds the entry of an expanded list that names the tool.
func matches(list []string, t Tool) (entry string, ok bool) {
	name := canonical(t.Name)
	for _, entry := range list {
		if glob(entry, name) {
			return entry, true
		}
	}
	return "", false
}

// glob matches a name against a pattern in which * stands for any text.
func glob(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, parts[0])
	for i := 1; ok && i < last; i++ {
		_, name, ok = strings.Cut(name, parts[i])
	}
	return ok && strings.HasSuffix(name, parts[last])
}

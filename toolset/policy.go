package toolset

import (
	"fmt"
	"strings"
)

// Policy is what whoever runs the gateway says about tools: the section "tools"
// of its configuration. The zero value has no lists.
type Policy struct {
	List       `yaml:",inline"`    // for all agents
	Profile    string              `yaml:"profile"`     // for agents that have none of their own
	Profiles   map[string]List     `yaml:"profiles"`    // beside the built-in ones
	Providers  map[string]Provider `yaml:"providers"`   // by "provider" or "provider/model"
	Agents     map[string]Agent    `yaml:"agents"`      // by id
	Groups     map[string]List     `yaml:"groups"`      // chat groups; "*" is for those not named
	Sandbox    List                `yaml:"sandbox"`     // for agents in a sandbox
	Subagent   List                `yaml:"subagent"`    // for agents that another one started
	ToolGroups map[string][]string `yaml:"tool_groups"` // "group:NAME" in lists, beside the built-in ones
	Plugins    map[string][]string `yaml:"plugins"`     // the tools of each registered plug-in, loaded or not
	OwnerOnly  []string            `yaml:"owner_only"`  // beside those that call themselves so
	Owners     []string            `yaml:"owners"`      // ids of the keys whose senders are the owner
	ApplyPatch ApplyPatch          `yaml:"apply_patch"`
}

// A List lets through what Allow names and Deny does not. A nil Allow names
// everything, an empty one nothing.
type List struct {
	Allow []string `yaml:"allow"`
	Deny  []string `yaml:"deny"`
}

// Provider is what holds with one provider of models, or one model of it.
type Provider struct {
	List    `yaml:",inline"`
	Profile string `yaml:"profile"`
}

// Agent is what holds for one agent.
type Agent struct {
	List      `yaml:",inline"`
	Profile   string              `yaml:"profile"`
	Providers map[string]Provider `yaml:"providers"`
}

// ApplyPatch turns the tool of that name on or off; nil is on for OpenAI only.
// Models, if there are any, are the only ones that get it.
type ApplyPatch struct {
	Enabled *bool    `yaml:"enabled"`
	Models  []string `yaml:"models"` // "gpt-5" or "openai/gpt-5"
}

// step is one list, and the name that it has in traces.
type step struct {
	label string
	List
	// coreStays: a list of nothing but plug-in tools that are not loaded is
	// an oversight, and must not take away all the core tools (O3).
	coreStays bool
}

// steps are the nine, in their fixed order (O2).
func (p *Policy) steps(c Context) []step {
	agent := p.Agents[c.Agent]
	provider, agentProvider := forModel(p.Providers, c), forModel(agent.Providers, c)
	profile := first(agent.Profile, p.Profile, c.Profile)
	providerProfile := first(agentProvider.Profile, provider.Profile)

	steps := []step{
		{label: named("tools.profile", profile), List: p.profile(profile), coreStays: true},
		{label: named("tools.provider-profile", providerProfile), List: p.profile(providerProfile), coreStays: true},
		{label: "tools.global", List: p.List},
		{label: "tools.global-provider", List: provider.List},
	}
	if c.Agent != "" {
		steps = append(steps,
			step{label: named("tools.agent", c.Agent), List: agent.List},
			step{label: named("tools.agent-provider", c.Agent), List: agentProvider.List})
	}
	return append(steps,
		step{label: "group tools.allow", List: p.group(c.Group), coreStays: true},
		step{label: "sandbox tools.allow", List: when(c.Sandbox, p.Sandbox)},
		step{label: "subagent tools.allow", List: when(c.Subagent, p.Subagent)})
}

func named(label, name string) string {
	if name == "" {
		return label
	}
	return fmt.Sprintf("%s (%s)", label, name)
}

func first(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

func when(so bool, l List) List {
	if !so {
		return List{}
	}
	return l
}

func (p *Policy) profile(name string) List {
	if l, ok := p.Profiles[name]; ok {
		return l
	}
	return profiles[name]
}

func (p *Policy) group(name string) List {
	if name == "" {
		return List{}
	}
	if l, ok := p.Groups[name]; ok {
		return l
	}
	return p.Groups["*"]
}

// forModel returns what is said of the model, else what is said of its provider.
func forModel(ps map[string]Provider, c Context) Provider {
	for _, want := range []string{fullModel(c), c.Provider} {
		for name, p := range ps {
			if want != "" && strings.EqualFold(name, want) {
				return p
			}
		}
	}
	return Provider{}
}

// fullModel is the model with its provider.
func fullModel(c Context) string {
	if c.Model == "" || c.Provider == "" || strings.Contains(c.Model, "/") {
		return c.Model
	}
	return c.Provider + "/" + c.Model
}

// fits refuses a request for a profile that there is none of: passing it over
// would let everything through.
func (p *Policy) fits(c Context) error {
	if c.Profile == "" || p.knowsProfile(c.Profile) {
		return nil
	}
	return invalid("there is no profile %q", c.Profile)
}

func (p *Policy) knowsProfile(name string) bool {
	_, builtIn := profiles[name]
	_, ours := p.Profiles[name]
	return builtIn || ours
}

package toolset

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
)

func tools(names ...string) (out []Tool) {
	for _, n := range names {
		out = append(out, Tool{Name: n})
	}
	return out
}

func namesOf(ts []Tool) (out []string) {
	for _, t := range ts {
		out = append(out, t.Name)
	}
	return out
}

func choose(t *testing.T, all []Tool, c Context, p *Policy) ([]string, Trace) {
	t.Helper()
	got, trace, err := Select(all, c, p)
	if err != nil {
		t.Fatal(err)
	}
	return namesOf(got), trace
}

// O1
func TestOwnerOnlyToolsNeedTheOwner(t *testing.T) {
	t.Parallel()
	all := []Tool{{Name: "read"}, {Name: "cron", OwnerOnly: true}, {Name: "gateway"}}
	p := &Policy{OwnerOnly: []string{"Gateway"}}
	got, trace := choose(t, all, Context{}, p)
	if diff := cmp.Diff([]string{"read"}, got); diff != "" {
		t.Error(diff)
	}
	for _, tool := range []string{"cron", "gateway"} {
		if label, why, _ := trace.Why(tool); label != "owner-only" || why != "it is for the owner, and the sender is not" {
			t.Errorf("%s: %q, %q", tool, label, why)
		}
	}
	if got, _ := choose(t, all, Context{Owner: true}, p); len(got) != 3 {
		t.Errorf("the owner gets %q", got)
	}
}

// O2: the order is fixed, and the labels are literal.
func TestStepsHaveTheirOrderAndLabels(t *testing.T) {
	t.Parallel()
	p := &Policy{
		Profile: "coding", Providers: map[string]Provider{"OpenAI": {Profile: "full"}},
		Agents: map[string]Agent{"main": {Profile: "messaging"}},
	}
	for name, tt := range map[string]struct {
		c    Context
		want []string
	}{
		"an agent": {Context{Agent: "main", Provider: "openai"}, []string{
			"apply_patch", "owner-only",
			"tools.profile (messaging)", "tools.provider-profile (full)", "tools.global", "tools.global-provider",
			"tools.agent (main)", "tools.agent-provider (main)",
			"group tools.allow", "sandbox tools.allow", "subagent tools.allow", "schema",
		}},
		"nobody": {Context{}, []string{
			"apply_patch", "owner-only",
			"tools.profile (coding)", "tools.provider-profile", "tools.global", "tools.global-provider",
			"group tools.allow", "sandbox tools.allow", "subagent tools.allow", "schema",
		}},
	} {
		_, trace := choose(t, nil, tt.c, p)
		var got []string
		for _, s := range trace {
			got = append(got, s.Label)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Each step removes by its own list, under its own label.
func TestEveryStepFilters(t *testing.T) {
	t.Parallel()
	deny := List{Deny: []string{"x"}}
	c := Context{Agent: "main", Provider: "openai", Model: "gpt-5", Group: "team", Sandbox: true, Subagent: true}
	for label, p := range map[string]*Policy{
		"tools.profile (mine)":          {Profile: "mine", Profiles: map[string]List{"mine": deny}},
		"tools.provider-profile (mine)": {Providers: map[string]Provider{"openai": {Profile: "mine"}}, Profiles: map[string]List{"mine": deny}},
		"tools.global":                  {List: deny},
		"tools.global-provider":         {Providers: map[string]Provider{"openai/gpt-5": {List: deny}, "openai": {}}},
		"tools.agent (main)":            {Agents: map[string]Agent{"main": {List: deny}}},
		"tools.agent-provider (main)":   {Agents: map[string]Agent{"main": {Providers: map[string]Provider{"OPENAI": {List: deny}}}}},
		"group tools.allow":             {Groups: map[string]List{"*": deny}},
		"sandbox tools.allow":           {Sandbox: deny},
		"subagent tools.allow":          {Subagent: deny},
	} {
		got, trace := choose(t, tools("x", "y"), c, p)
		at, why, _ := trace.Why("x")
		if !slices.Equal(got, []string{"y"}) || at != label || why != `denied by "x"` {
			t.Errorf("%s: %q, removed by %q: %s", label, got, at, why)
		}
	}
	for name, p := range map[string]*Policy{
		"no sandbox": {Sandbox: deny}, "no subagent": {Subagent: deny}, "no group": {Groups: map[string]List{"*": deny}},
		"another provider": {Providers: map[string]Provider{"google": {List: deny}}}, "another agent": {Agents: map[string]Agent{"other": {List: deny}}},
	} {
		if got, _ := choose(t, tools("x"), Context{Agent: "main", Provider: "openai"}, p); len(got) != 1 {
			t.Errorf("%s: the list holds", name)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	all := append(tools("Read", "Write", "Bash", "process", "mcp__git__push", "mcp__git__log"), Tool{Name: "recall", Plugin: "memory"})
	p := &Policy{ToolGroups: map[string][]string{"git": {"mcp__git__push", "mcp__git__log"}}, Plugins: map[string][]string{"memory": {"recall", "forget"}}}
	for name, tt := range map[string]struct {
		list List
		want string
	}{
		"no list":             {List{}, "Read Write Bash process mcp__git__push mcp__git__log recall"},
		"an empty allow-list": {List{Allow: []string{}}, ""},
		"names, in any case":  {List{Allow: []string{"READ", " write "}}, "Read Write"},
		"an alias":            {List{Allow: []string{"exec"}}, "Bash"},
		"a built-in group":    {List{Allow: []string{"group:fs", "group:runtime"}}, "Read Write Bash process"},
		"a group of our own":  {List{Allow: []string{"group:git"}}, "mcp__git__push mcp__git__log"},
		"a plug-in":           {List{Allow: []string{"plugin:memory"}}, "recall"},
		"all plug-ins":        {List{Deny: []string{"group:plugins"}}, "Read Write Bash process mcp__git__push mcp__git__log"},
		"a pattern":           {List{Allow: []string{"mcp__*__push"}}, "mcp__git__push"},
		"everything":          {List{Allow: []string{"*"}}, "Read Write Bash process mcp__git__push mcp__git__log recall"},
		"deny wins":           {List{Allow: []string{"*", "Bash"}, Deny: []string{"bash", "mcp__*"}}, "Read Write process recall"},
	} {
		p.List = tt.list
		got, trace := choose(t, all, Context{}, p)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
		if w := trace.Warnings(); len(w) > 0 {
			t.Errorf("%s: %q", name, w)
		}
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "a", true}, {"*a", "ba", true}, {"*a", "ab", false},
		{"a*a", "a", false}, {"a*b*c", "a_b_bc", true}, {"a*b*c", "acb", false}, {"a**b", "ab", true}, {"a*ab", "aab", true}, {"a.b", "axb", false},
	} {
		if got := glob(tt.pattern, tt.name); got != tt.want {
			t.Errorf("glob(%q, %q) is %v", tt.pattern, tt.name, got)
		}
	}
}

// O3: a list of nothing but plug-in tools that are not loaded is an oversight,
// and only in the steps of profiles and groups.
func TestPluginOnlyListKeepsCoreTools(t *testing.T) {
	t.Parallel()
	list := List{Allow: []string{"recall", "plugin:memory"}}
	plugins := map[string][]string{"memory": {"recall", "forget"}, "voice": {"say"}}
	all := append(tools("read", "exec"), Tool{Name: "say", Plugin: "voice"})
	c := Context{Agent: "main", Provider: "openai", Group: "team", Sandbox: true, Subagent: true}
	for label, tt := range map[string]struct {
		p    Policy
		want string
	}{
		"tools.profile (mine)":          {Policy{Profile: "mine", Profiles: map[string]List{"mine": list}}, "read exec"},
		"tools.provider-profile (mine)": {Policy{Providers: map[string]Provider{"openai": {Profile: "mine"}}, Profiles: map[string]List{"mine": list}}, "read exec"},
		"group tools.allow":             {Policy{Groups: map[string]List{"team": list}}, "read exec"},
		"tools.global":                  {Policy{List: list}, ""},
		"tools.global-provider":         {Policy{Providers: map[string]Provider{"openai": {List: list}}}, ""},
		"tools.agent (main)":            {Policy{Agents: map[string]Agent{"main": {List: list}}}, ""},
		"tools.agent-provider (main)":   {Policy{Agents: map[string]Agent{"main": {Providers: map[string]Provider{"openai": {List: list}}}}}, ""},
		"sandbox tools.allow":           {Policy{Sandbox: list}, ""},
		"subagent tools.allow":          {Policy{Subagent: list}, ""},
	} {
		tt.p.Plugins = plugins
		got, trace := choose(t, all, c, &tt.p)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q", label, got)
		}
		if w := trace.Warnings(); (len(w) == 1 && strings.HasPrefix(w[0], label+": the allow-list names only tools of plug-ins that are not loaded")) != (tt.want != "") {
			t.Errorf("%s: warnings %q", label, w)
		}
	}
}

// O3: what is not exactly that list never widens.
func TestUnknownNamesNeverWiden(t *testing.T) {
	t.Parallel()
	plugins := map[string][]string{"memory": {"recall"}}
	for name, tt := range map[string]struct {
		allow []string
		all   []Tool
		want  string
		warns bool
	}{
		"a name nobody knows":               {[]string{"recal"}, tools("read"), "", true},
		"a plug-in's and an unknown one":    {[]string{"recall", "recal"}, tools("read"), "", true},
		"a plug-in's that is loaded":        {[]string{"recall"}, append(tools("read"), Tool{Name: "Recall", Plugin: "memory"}), "Recall", false},
		"loaded, but for the owner":         {[]string{"recall"}, append(tools("read"), Tool{Name: "recall", OwnerOnly: true}), "", false},
		"a core tool and a plug-in's":       {[]string{"read", "recall"}, tools("read", "exec"), "read", false},
		"nothing":                           {[]string{}, tools("read"), "", false},
		"a pattern that matches no tool":    {[]string{"rec*"}, tools("read"), "", false},
		"a core tool of a plug-in's name":   {[]string{"recall"}, tools("read", "recall"), "recall", false},
		"an unknown name beside a core one": {[]string{"read", "wirte"}, tools("read", "write"), "read", true},
	} {
		got, trace := choose(t, tt.all, Context{}, &Policy{Profile: "mine", Profiles: map[string]List{"mine": {Allow: tt.allow}}, Plugins: plugins})
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
		if w := trace.Warnings(); (len(w) > 0) != tt.warns {
			t.Errorf("%s: warnings %q", name, w)
		}
	}
}

// O13
func TestApplyPatchIsForOpenAI(t *testing.T) {
	t.Parallel()
	on, off := true, false
	for name, tt := range map[string]struct {
		a    ApplyPatch
		c    Context
		want bool
	}{
		"OpenAI":                     {ApplyPatch{}, Context{Provider: "openai"}, true},
		"Codex":                      {ApplyPatch{}, Context{Provider: "OpenAI-Codex"}, true},
		"another":                    {ApplyPatch{}, Context{Provider: "anthropic"}, false},
		"none":                       {ApplyPatch{}, Context{}, false},
		"a look-alike":               {ApplyPatch{}, Context{Provider: "not-openai"}, false},
		"another, turned on":         {ApplyPatch{Enabled: &on}, Context{Provider: "anthropic"}, true},
		"OpenAI, turned off":         {ApplyPatch{Enabled: &off}, Context{Provider: "openai"}, false},
		"one of the models":          {ApplyPatch{Models: []string{"GPT-5"}}, Context{Provider: "openai", Model: "gpt-5"}, true},
		"one by its provider":        {ApplyPatch{Models: []string{"openai/gpt-5"}}, Context{Provider: "openai", Model: "gpt-5"}, true},
		"another model":              {ApplyPatch{Models: []string{"gpt-5"}}, Context{Provider: "openai", Model: "gpt-4"}, false},
		"a model nobody named":       {ApplyPatch{Models: []string{"gpt-5"}}, Context{Provider: "openai"}, false},
		"models do not turn it on":   {ApplyPatch{Models: []string{"opus"}}, Context{Provider: "anthropic", Model: "opus"}, false},
		"turned on, for some models": {ApplyPatch{Enabled: &on, Models: []string{"opus"}}, Context{Provider: "anthropic", Model: "opus"}, true},
	} {
		for _, tool := range []string{"apply_patch", "Apply-Patch"} {
			got, trace := choose(t, tools(tool, "read"), tt.c, &Policy{ApplyPatch: tt.a})
			if label, _, _ := trace.Why(tool); slices.Contains(got, tool) != tt.want || (label == "apply_patch") == tt.want || !slices.Contains(got, "read") {
				t.Errorf("%s: got %q, removed by %q", name, got, label)
			}
		}
	}
}

func TestWhatCanNotBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	for where, p := range map[string]*Policy{
		"profile":                        {Profile: "codign"},
		"allow.1":                        {List: List{Allow: []string{"read", "group:fss"}}},
		"deny.0":                         {List: List{Deny: []string{""}}},
		"agents.main.providers.x.deny.0": {Agents: map[string]Agent{"main": {Providers: map[string]Provider{"x": {List: List{Deny: []string{"plugin:none"}}}}}}},
		"agents.main.profile":            {Agents: map[string]Agent{"main": {Profile: "none"}}},
		"groups.team.allow.0":            {Groups: map[string]List{"team": {Allow: []string{"tool:read"}}}},
		"tool_groups.a.0":                {ToolGroups: map[string][]string{"a": {"group:fs"}}},
		"tool_groups.plugins":            {ToolGroups: map[string][]string{"plugins": {"x"}}},
		"plugins.memory.0":               {Plugins: map[string][]string{"memory": {"mem*"}}},
		"owner_only.0":                   {OwnerOnly: []string{"group:none"}},
		"owners.0":                       {Owners: []string{"me"}},
		"providers.openai":               {Providers: map[string]Provider{"OpenAI": {}, "openai": {}}},
		"plugins.memory":                 {Plugins: map[string][]string{"Memory": nil, "memory": nil}},
		"providers.openai.profile":       {Providers: map[string]Provider{"openai": {Profile: "none"}}},
	} {
		_, _, err := Select(tools("read"), Context{}, p)
		var f *FieldError
		if !errors.As(err, &f) || strings.Join(f.Path, ".") != where || !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("%s: %v", where, err)
		}
	}
	for name, all := range map[string][]Tool{
		"no name": tools(""), "blanks": tools(" read"), "a pattern": tools("re*"), "a group": tools("group:fs"),
		"two but for case": tools("Read", "read"), "not UTF-8": tools("\xff"), "too long": tools(strings.Repeat("x", 257)),
		"too many": make([]Tool, MaxTools+1),
	} {
		if got, _, err := Select(all, Context{}, nil); !errors.Is(err, gatelatch.ErrInvalid) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, _, err := Select(nil, Context{Profile: "none"}, nil); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("an unknown profile: %v", err)
	}
}

// What a request says of itself can't widen what the configuration says.
func TestTheConfiguredProfileWins(t *testing.T) {
	t.Parallel()
	if got, _ := choose(t, tools("read", "message"), Context{Profile: "full"}, &Policy{Profile: "messaging"}); !slices.Equal(got, []string{"message"}) {
		t.Errorf("got %q", got)
	}
	if got, _ := choose(t, tools("read", "message"), Context{Profile: "messaging"}, nil); !slices.Equal(got, []string{"message"}) {
		t.Errorf("got %q", got)
	}
}

func TestAToolWithABrokenSchemaIsRemoved(t *testing.T) {
	t.Parallel()
	all := []Tool{{Name: "a", Schema: json.RawMessage(`{"type":"string"}`)}, {Name: "b"}}
	got, trace := choose(t, all, Context{}, nil)
	if label, why, _ := trace.Why("a"); !slices.Equal(got, []string{"b"}) || label != "schema" || !strings.Contains(why, "not the schema of an object") {
		t.Errorf("got %q, %s: %s", got, label, why)
	}
}

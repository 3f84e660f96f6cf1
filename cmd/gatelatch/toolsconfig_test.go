package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch/toolset"
)

func TestToolsConfig(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.yaml"), `
listen: 127.0.0.1:0
tools:
  profile: mine
  deny: [mcp__*]
  profiles:
    mine: {allow: ["group:ours", exec]}
    none: {allow: []}
  providers:
    openai/gpt-5: {profile: coding, deny: [exec]}
  agents:
    main:
      profile: full
      allow: ["*"]
      providers: {google: {deny: [web_fetch]}}
  groups: {"*": {deny: ["group:runtime"]}}
  sandbox: {allow: [read]}
  subagent: {deny: ["plugin:memory"]}
  tool_groups: {ours: [read, write]}
  plugins: {memory: [recall]}
  owner_only: [cron]
  owners: [key_1]
  apply_patch: {enabled: true, models: [opus]}
`)
	c, err := loadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	on := true
	want := toolset.Policy{
		Profile: "mine", List: toolset.List{Deny: []string{"mcp__*"}},
		Profiles:  map[string]toolset.List{"mine": {Allow: []string{"group:ours", "exec"}}, "none": {Allow: []string{}}},
		Providers: map[string]toolset.Provider{"openai/gpt-5": {Profile: "coding", List: toolset.List{Deny: []string{"exec"}}}},
		Agents: map[string]toolset.Agent{"main": {Profile: "full", List: toolset.List{Allow: []string{"*"}},
			Providers: map[string]toolset.Provider{"google": {List: toolset.List{Deny: []string{"web_fetch"}}}}}},
		Groups:  map[string]toolset.List{"*": {Deny: []string{"group:runtime"}}},
		Sandbox: toolset.List{Allow: []string{"read"}}, Subagent: toolset.List{Deny: []string{"plugin:memory"}},
		ToolGroups: map[string][]string{"ours": {"read", "write"}}, Plugins: map[string][]string{"memory": {"recall"}},
		OwnerOnly: []string{"cron"}, Owners: []string{"key_1"}, ApplyPatch: toolset.ApplyPatch{Enabled: &on, Models: []string{"opus"}},
	}
	if diff := cmp.Diff(want, c.Tools); diff != "" {
		t.Error(diff)
	}
}

func TestToolsConfigThatCanNotBeMeant(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"tools:\n  alow: [read]\n":                                           "line 2: tools.alow is no key",
		"tools:\n  agents:\n    main:\n      alow: [read]\n":                 "line 4: tools.agents.main.alow is no key",
		"tools:\n  allow:\n    - read\n    - group:fss\n":                    `line 4: tools.allow.1: there is no group of tools "fss"`,
		"tools:\n  agents:\n    main:\n      profile: codign\n":              `line 4: tools.agents.main.profile: there is no profile "codign"`,
		"tools:\n  deny: [exec]\n  allow:\n":                                 "line 3: tools: a value is missing",
		"tools:\n  groups:\n    team:\n":                                     "line 3: tools: a value is missing",
		"tools:\n  allow: exec\n":                                            "line 2: tools.allow has to be a list",
		"tools:\n  plugins: {memory: [recall]}\n  deny: ['plugin:memroy']\n": `line 3: tools.deny.0: no plug-in "memroy" is registered`,
		"tools:\n":                "line 1: tools: a value is missing",
		"tools: {owners: [me]}\n": `line 1: tools.owners.0: "me" is not the id of a key`,
		"hooks:\n  - {path: /bin/true, on: during}\n": `"during" is none of before, after`,
	} {
		writeFile(t, filepath.Join(dir, "config.yaml"), text)
		if _, err := loadConfig(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "config.yaml: ") {
			t.Errorf("%s: got %v, want %q in it", text, err, want)
		}
	}
}

func TestHooksBeforeAndAfter(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.yaml"), "hooks:\n  - path: /bin/true\n  - {path: /bin/false, on: after}\n  - {path: /bin/sh, on: before}\n")
	c, err := loadConfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b, a := c.hooks(), c.afterHooks(); len(b) != 2 || b[0].Name() != "true" || b[1].Name() != "sh" || len(a) != 1 || a[0].Name() != "false" {
		t.Errorf("before %v, after %v", b, a)
	}
}

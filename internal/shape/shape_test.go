package shape

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

type list struct {
	Allow []string `yaml:"allow"`
}

type sample struct {
	list   `yaml:",inline"`
	Listen string          `yaml:"listen"`
	On     string          `yaml:"on" enum:"before,after"`
	Count  int             `yaml:"count"`
	Wait   time.Duration   `yaml:"wait"`
	Sure   *bool           `yaml:"sure"`
	Agents map[string]list `yaml:"agents"`
	Hooks  []sampleHook    `yaml:"hooks"`
}

type sampleHook struct {
	Path string `yaml:"path"`
}

func TestCheckFindsEachMisfitWithItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Misfit{
		"": nil,
		"listen: 1\non: after\ncount: 0x10\nwait: 1h30m\nsure: true\nallow: [a]\nagents: {x: {allow: []}}\nhooks: [{path: /x}]": nil,
		"a: &a {allow: [x]}\nagents:\n  y: *a\n":       {{1, "a", "is no key that there is here", "there is agents, allow, count, hooks, listen, on, sure, wait"}},
		"\nlissten: x\n":                               {{2, "lissten", "is no key that there is here", "did you mean listen?"}},
		"hooks:\n  - paht: x\n    path: y\n":           {{2, "hooks.paht", "is no key that there is here", "did you mean path?"}},
		"hooks:\n  path: x\n":                          {{2, "hooks", "has to be a list, not a mapping", "write [ … ], or one in a line after a dash"}},
		"on: befor":                                    {{1, "on", `"befor" is none of before, after`, "did you mean before?"}},
		"count: many\nwait: 5\nsure: 1\nlisten: [x]\n": {{1, "count", `has to be a whole number, not "many"`, ""}, {2, "wait", `has to be a length of time, not "5"`, "such as 30s, 5m or 8h"}, {3, "sure", `has to be true or false, not "1"`, ""}, {4, "listen", "has to be a text, not a list", ""}},
		"agents: {main: {alow: [x]}}":                  {{1, "agents.main.alow", "is no key that there is here", "did you mean allow?"}},
		"listen: a\n\nlisten: b":                       {{3, "listen", "stands here a second time; the first is on line 1", ""}},
		"- x":                                          {{1, "", "has to be a mapping, not a list", `write "key: value", each in a line`}},
		"private: 1":                                   {{1, "private", "is no key that there is here", "there is agents, allow, count, hooks, listen, on, sure, wait"}},
		"listen:\nhooks:\n":                            nil,
		"d: &d {listen: x}\nagents:\n  m:\n    <<: {allow: [a]}": {{1, "d", "is no key that there is here", "there is agents, allow, count, hooks, listen, on, sure, wait"}},
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, Check(&doc, reflect.TypeFor[sample]())); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestSchemaHasEveryKey(t *testing.T) {
	t.Parallel()
	got := Schema(reflect.TypeFor[sample](), map[string]string{"hooks.path": "a program"})
	want := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
		"properties": map[string]any{
			"allow":  map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
			"listen": map[string]any{"type": "string"},
			"on":     map[string]any{"type": "string", "enum": []string{"before", "after"}},
			"count":  map[string]any{"type": "integer"},
			"wait":   map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`},
			"sure":   map[string]any{"type": "boolean"},
			"agents": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
				"allow": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}}},
			"hooks": map[string]any{"type": "array", "items": map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
				"path": map[string]any{"type": "string", "description": "a program"}}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	paths := Paths(reflect.TypeFor[sample]())
	if !slices.Equal(paths, []string{"allow", "listen", "on", "count", "wait", "sure", "agents", "agents.allow", "hooks", "hooks.path"}) {
		t.Errorf("%q", paths)
	}
}

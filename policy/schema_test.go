package policy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("policy.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is a file as an editor sees it: dates are texts.
func asJSON(t *testing.T, data []byte) any {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	var undate func(n *yaml.Node)
	undate = func(n *yaml.Node) {
		if n.ShortTag() == "!!timestamp" {
			n.Tag = "!!str"
		}
		for _, c := range n.Content {
			undate(c)
		}
	}
	undate(&root)
	var v any
	if err := root.Decode(&v); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return v
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// documented returns the files that docs/policy.md shows. A block that does
// not start with a version is a part of one.
func documented(t *testing.T) map[string]string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i, m := range yamlBlock.FindAllStringSubmatch(string(doc), -1) {
		text := m[1]
		if strings.HasPrefix(text, "hooks:") {
			continue // of config.yaml
		}
		if !strings.HasPrefix(text, "version:") {
			text = "version: 1\n" + text
		}
		out[fmt.Sprintf("example %d of the docs", i+1)] = text
	}
	if len(out) < 7 {
		t.Errorf("only %d examples are found", len(out))
	}
	return out
}

func TestSchemaAndLoaderAgree(t *testing.T) {
	t.Parallel()
	s := schema(t)
	good := documented(t)
	good["default.yaml"] = string(defaultRules)
	good["many"] = string(manyRules(50))
	for name, text := range map[string]string{
		"nothing":    "version: 1",
		"lists":      "version: 1\nallow:\nask: []\ndeny: ['*', mcp__s, mcp__s__*, 'Bash(rm:*)']\nprojects:",
		"conditions": "version: 1\nask:\n- {rule: X, within: 1h30m, until: 2030-01-01, why: y, where: {a: 1, 'b[].c': {in: [x, true]}, d: {present: false}, e: {at_least: 1.5, at_most: 2}, f: {under: ./src}, g: {domain: '*.a.b'}, h: {matches: 'a.*'}}}",
		"examples":   "version: 1\nallow:\n- {rule: Bash(ls:*), match: [ls, {command: ls -la}], not_match: rm}",
		"settings":   "version: 1\nmode: plan\nskip: {edits: true, bash: false, skills: true, mcp: true}\nexec: {security: full, ask: 'off'}\nprojects:\n- {path: ~/a, mode: acceptEdits, skip: {mcp: true}, allow: [X]}\n- {path: /srv/b}",
	} {
		good[name] = text
	}
	for name, text := range good {
		if _, err := Parse("policy.yaml", []byte(text)); err != nil {
			t.Errorf("%s: the loader: %v", name, err)
		}
		if err := s.Validate(asJSON(t, []byte(text))); err != nil {
			t.Errorf("%s: the schema: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"no version":                  "allow: [X]",
		"another version":             "version: 2",
		"an unknown key":              "version: 1\nalow: [X]",
		"a text for a list":           "version: 1\ndeny: X",
		"a number for a rule":         "version: 1\ndeny: [7]",
		"no rule in a rule":           "version: 1\ndeny: [{why: x}]",
		"an unknown key of a rule":    "version: 1\ndeny: [{rule: X, when: y}]",
		"an empty rule":               "version: 1\ndeny: ['']",
		"an empty pattern":            "version: 1\ndeny: ['Bash()']",
		"a blank in a tool":           "version: 1\ndeny: ['B sh']",
		"within for a denial":         "version: 1\ndeny: [{rule: X, within: 5m}]",
		"within without a unit":       "version: 1\nask: [{rule: X, within: '5'}]",
		"an end that is none":         "version: 1\nask: [{rule: X, until: soon}]",
		"conditions as a list":        "version: 1\nask: [{rule: X, where: [a]}]",
		"an odd field":                "version: 1\nask: [{rule: X, where: {'a[1]': b}}]",
		"an empty condition":          "version: 1\nask: [{rule: X, where: {a: {}}}]",
		"an unknown operator":         "version: 1\nask: [{rule: X, where: {a: {like: b}}}]",
		"in without values":           "version: 1\nask: [{rule: X, where: {a: {in: []}}}]",
		"a limit that is a text":      "version: 1\nask: [{rule: X, where: {a: {at_most: '5'}}}]",
		"presence that is a text":     "version: 1\nask: [{rule: X, where: {a: {present: 'true'}}}]",
		"a folder of nowhere":         "version: 1\nask: [{rule: X, where: {a: {under: src}}}]",
		"a long pattern":              "version: 1\nask: [{rule: X, where: {a: {matches: '" + strings.Repeat("a", 1001) + "'}}}]",
		"an unknown mode":             "version: 1\nmode: yolo",
		"a mode in capitals":          "version: 1\nmode: Plan",
		"an unknown switch":           "version: 1\nskip: {all: true}",
		"a switch that is a text":     "version: 1\nskip: {edits: 'yes'}",
		"an unknown security":         "version: 1\nexec: {security: some}",
		"an unknown ask":              "version: 1\nexec: {ask: never}",
		"an unknown key of exec":      "version: 1\nexec: {safe: true}",
		"a project without a path":    "version: 1\nprojects: [{allow: [X]}]",
		"a project of nowhere":        "version: 1\nprojects: [{path: src/app}]",
		"exec in a project":           "version: 1\nprojects: [{path: /a, exec: {ask: always}}]",
		"projects in a project":       "version: 1\nprojects: [{path: /a, projects: []}]",
		"projects as a map":           "version: 1\nprojects: {path: /a}",
		"an example that is a number": "version: 1\nask: [{rule: mcp__a__b, match: 7}]",
	} {
		if _, err := Parse("policy.yaml", []byte(text)); err == nil {
			t.Errorf("%s: the loader takes it", name)
		}
		if err := s.Validate(asJSON(t, []byte(text))); err == nil {
			t.Errorf("%s: the schema takes it", name)
		}
	}
}

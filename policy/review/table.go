package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// project stands for the project of a test that names none. Nothing is there,
// so that a table gives the same result on every machine.
const project = "/home/me/project"

// A Case is one line of a table of tests: a call, and what must be said of it.
type Case struct {
	Source  string // file:line
	Name    string
	Call    gatelatch.Call
	Project string
	Mode    gatelatch.Mode
	Expect  gatelatch.Effect
	Because string // the text of a rule that must be among those that decide
}

// An Outcome is how a case went.
type Outcome struct {
	Source  string            `json:"source"`
	Name    string            `json:"name"`
	Want    gatelatch.Effect  `json:"want"`
	Because string            `json:"because,omitempty"`
	Verdict gatelatch.Verdict `json:"verdict"`
	OK      bool              `json:"ok"`
}

// Try judges the case.
func (c *Case) Try(ctx context.Context, policy gatelatch.Policy) Outcome {
	sess := &gatelatch.Session{ID: "test", Project: c.Project}
	if c.Mode != "" {
		sess.Chosen = gatelatch.ModeChoice{Mode: c.Mode}
	}
	v := policy.Judge(ctx, &c.Call, sess, nil)
	decides := func(r gatelatch.Reason) bool { return r.Effect == v.Effect && r.Rule == c.Because }
	return Outcome{
		Source: c.Source, Name: c.Name, Want: c.Expect, Because: c.Because, Verdict: v,
		OK: v.Effect == c.Expect && (c.Because == "" || slices.ContainsFunc(v.Reasons, decides)),
	}
}

// ParseTable reads tests; name stands for the file in messages.
func ParseTable(name string, data []byte) ([]Case, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s:1: the file is empty; it starts with version: 1", name)
	case err != nil:
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is a second document, or the end can't be read", name)
	}
	t := table{name: name, project: project}
	if err := t.file(doc.Content[0]); err != nil {
		return nil, err
	}
	return t.cases, nil
}

type table struct {
	name    string
	project string
	cases   []Case
}

func (t *table) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", t.name, n.Line, fmt.Sprintf(format, args...))
}

func (t *table) file(root *yaml.Node) error {
	var version, tests *yaml.Node
	err := t.mapping(root, func(key string, k, v *yaml.Node) (err error) {
		switch key {
		case "version":
			version = v
		case "project":
			t.project, err = t.text(v)
		case "tests":
			tests = v
		default:
			err = t.errorf(k, "unknown key %q; there are version, project and tests", key)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case version == nil || version.Value != "1":
		return t.errorf(root, "version: 1 is missing")
	case tests == nil || tests.Kind != yaml.SequenceNode:
		return t.errorf(root, "tests is a list of calls, each with what is expected")
	}
	for _, n := range tests.Content {
		c, err := t.one(n)
		if err != nil {
			return err
		}
		t.cases = append(t.cases, c)
	}
	return nil
}

func (t *table) mapping(n *yaml.Node, fn func(key string, k, v *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return t.errorf(n, "expected keys with values")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if seen[k.Value] {
			return t.errorf(k, "the key %q is there twice", k.Value)
		}
		seen[k.Value] = true
		if err := fn(k.Value, k, v); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return "", t.errorf(n, "expected a text; put quotes around it if it is one")
	}
	return n.Value, nil
}

// one reads a test.
func (t *table) one(n *yaml.Node) (Case, error) {
	c := Case{Source: fmt.Sprintf("%s:%d", t.name, n.Line), Project: t.project, Call: gatelatch.Call{Kind: gatelatch.Permission}}
	texts := map[string]string{}
	var input *yaml.Node
	err := t.mapping(n, func(key string, k, v *yaml.Node) (err error) {
		switch key {
		case "tool", "command", "path", "url", "skill", "dir", "project", "mode", "expect", "because", "name":
			texts[key], err = t.text(v)
		case "input":
			input = v
		default:
			err = t.errorf(k, "unknown key %q; there are tool, command, path, url, skill, input, dir, project, mode, expect, because and name", key)
		}
		return err
	})
	if err != nil {
		return c, err
	}
	if p, ok := texts["project"]; ok {
		c.Project = p
	}
	c.Call.Tool, c.Because, c.Call.Dir = texts["tool"], texts["because"], c.Project
	if dir, ok := texts["dir"]; ok {
		c.Call.Dir = dir
	}
	switch {
	case c.Call.Tool == "":
		return c, t.errorf(n, "tool is missing")
	case texts["expect"] == "":
		return c, t.errorf(n, "expect is missing: deny, ask or allow")
	}
	if mode, ok := texts["mode"]; ok {
		c.Mode, err = gatelatch.ParseMode(mode)
	}
	if err := errors.Join(err, c.Expect.UnmarshalText([]byte(texts["expect"]))); err != nil {
		return c, t.errorf(n, "%v", err)
	}
	var said string
	if c.Call.Input, said, err = t.input(n, c.Call.Tool, texts, input); err != nil {
		return c, err
	}
	c.Name = texts["name"]
	if c.Name == "" {
		c.Name = strings.TrimSpace(c.Call.Tool + " " + said)
	}
	return c, nil
}

// input makes the input of a test, and what to call it.
func (t *table) input(n *yaml.Node, tool string, texts map[string]string, input *yaml.Node) ([]byte, string, error) {
	given := []string{}
	for _, key := range []string{"command", "path", "url", "skill"} {
		if text, ok := texts[key]; ok {
			given = append(given, text)
			if field := mainField[tool]; field != key && (key != "path" || !strings.HasSuffix(field, "path")) {
				return nil, "", t.errorf(n, "%s has no %s; write its input: {…}", tool, key)
			}
		}
	}
	switch {
	case len(given) > 1 || len(given) == 1 && input != nil:
		return nil, "", t.errorf(n, "give the input once")
	case len(given) == 1:
		raw, err := strictjson.Marshal(map[string]string{mainField[tool]: given[0]})
		return raw, given[0], err
	case input == nil:
		return []byte("{}"), "", nil
	case input.Kind != yaml.MappingNode:
		return nil, "", t.errorf(input, "input is an object, the way the tool gets it")
	}
	value, err := t.value(input)
	if err != nil {
		return nil, "", err
	}
	raw, err := strictjson.Marshal(value)
	return raw, string(raw), err
}

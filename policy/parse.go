package policy

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch"
)

// maxFile is far more than anybody writes by hand.
const maxFile = 1 << 20

//go:embed default.yaml
var defaultRules []byte

// Default returns the rules that hold while there is no policy file.
func Default() *Set {
	s, err := parse("default.yaml", defaultRules, layerDefault)
	if err != nil {
		panic("policy: " + err.Error()) // a test reads it
	}
	return s
}

// Parse reads rules; name stands for the file in messages.
func Parse(name string, data []byte) (*Set, error) { return parse(name, data, layerUser) }

// Load reads a policy file. It refuses one that others could write.
func Load(path string) (*Set, error) {
	s, _, err := load(path)
	return s, err
}

func load(path string) (*Set, stamp, error) {
	data, st, err := readSafely(path)
	if err != nil {
		return nil, st, err
	}
	s, err := Parse(filepath.Base(path), data)
	return s, st, err
}

func parse(name string, data []byte, layer string) (s *Set, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("%s: the file can't be read: %.80v", name, p)
		}
	}()
	root, err := document(name, data)
	if err != nil {
		return nil, err
	}
	p := parser{name: name, set: &Set{layer: layer, grants: &grantCache{}}}
	if err := p.file(root); err != nil {
		return nil, err
	}
	p.set.hash = gatelatch.SumFields("gatelatch.policy.v1", []byte(layer), data).String()
	return p.set, nil
}

// document returns the root of the only YAML document in data.
func document(name string, data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s:1: the file is empty; it starts with version: 1", name)
	case err != nil:
		return nil, yamlError(name, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:%d: a second document", name, max(1, more.Line))
	}
	return doc.Content[0], nil
}

// yamlError turns "yaml: line 3: …" into "policy.yaml:3: …".
func yamlError(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if _, scanErr := fmt.Sscanf(text, "line %d:", &line); scanErr == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	return fmt.Errorf("%s:%d: %s", name, line, text)
}

type parser struct {
	name string
	set  *Set
}

func (p *parser) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.name, n.Line, fmt.Sprintf(format, args...))
}

func (p *parser) file(root *yaml.Node) error {
	version := false
	err := p.mapping(root, func(key string, k, v *yaml.Node) error {
		switch key {
		case "version":
			version = v.Kind == yaml.ScalarNode && v.ShortTag() == "!!int" && v.Value == "1"
			if !version {
				return p.errorf(v, "version %q is not known; this is version: 1", v.Value)
			}
			return nil
		case "allow":
			return p.list(v, gatelatch.Allow)
		case "ask":
			return p.list(v, gatelatch.Ask)
		case "deny":
			return p.list(v, gatelatch.Deny)
		}
		return p.errorf(k, "unknown key %q; there are version, allow, ask and deny", key)
	})
	if err == nil && !version {
		err = p.errorf(root, "version: 1 is missing")
	}
	return err
}

// mapping calls fn for each entry and refuses keys that repeat.
func (p *parser) mapping(n *yaml.Node, fn func(key string, k, v *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return p.errorf(n, "expected keys with values")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key, err := p.text(k)
		if err != nil {
			return err
		}
		if seen[key] {
			return p.errorf(k, "the key %q is there twice", key)
		}
		seen[key] = true
		if err := fn(key, k, v); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) text(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return "", p.errorf(n, "expected a text; put quotes around it if it is one")
	}
	return n.Value, nil
}

func (p *parser) list(n *yaml.Node, effect gatelatch.Effect) error {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil // "deny:" with nothing under it
	}
	if n.Kind != yaml.SequenceNode {
		return p.errorf(n, "%s is a list of rules", effect)
	}
	for _, item := range n.Content {
		if err := p.entry(item, effect); err != nil {
			return err
		}
	}
	return nil
}

// entry reads a rule, as a text or as {rule: …, why: …, within: …}.
func (p *parser) entry(n *yaml.Node, effect gatelatch.Effect) (err error) {
	var text, why string
	var within time.Duration
	if n.Kind == yaml.MappingNode {
		err = p.mapping(n, func(key string, k, v *yaml.Node) (err error) {
			switch key {
			case "rule":
				text, err = p.text(v)
			case "why":
				why, err = p.text(v)
			case "within":
				within, err = p.within(k, v, effect)
			default:
				err = p.errorf(k, "unknown key %q in a rule; there are rule, why and within (put quotes around a rule with \": \" in it)", key)
			}
			return err
		})
	} else {
		text, err = p.text(n)
	}
	if err != nil {
		return err
	}
	r, err := parseRule(text, effect)
	if err != nil {
		return p.errorf(n, "%v", err)
	}
	r.why, r.within, r.source = why, within, fmt.Sprintf("%s:%d", p.name, n.Line)
	p.set.rules = append(p.set.rules, r)
	return nil
}

// within reads how long a call may wait for a person.
func (p *parser) within(k, v *yaml.Node, effect gatelatch.Effect) (time.Duration, error) {
	if effect != gatelatch.Ask {
		return 0, p.errorf(k, "within is how long a call may wait, so only a rule under ask has it")
	}
	d, err := time.ParseDuration(v.Value)
	if err != nil || v.Kind != yaml.ScalarNode || d < time.Second {
		return 0, p.errorf(v, "within is a time of at least a second: 30s, 10m, 1h30m")
	}
	return d, nil
}

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
	l, err := parse("default.yaml", defaultRules, layerDefault)
	if err != nil {
		panic("policy: " + err.Error()) // a test reads it
	}
	return newSet(l)
}

// Parse reads rules; name stands for the file in messages.
func Parse(name string, data []byte) (*Set, error) {
	l, err := parse(name, data, layerUser)
	if err != nil {
		return nil, err
	}
	return newSet(l), nil
}

// Load reads a policy file. It refuses one that others could write.
func Load(path string) (*Set, error) {
	data, _, err := readSafely(path, false)
	if err != nil {
		return nil, err
	}
	return Parse(filepath.Base(path), data)
}

func parse(name string, data []byte, layerName string) (l *layer, err error) {
	defer func() {
		if p := recover(); p != nil {
			l, err = nil, fmt.Errorf("%s:1: the file can't be read: %.80v", name, p)
		}
	}()
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s:1: larger than %d bytes", name, maxFile)
	}
	root, err := document(name, data)
	if err != nil {
		return nil, err
	}
	p := parser{name: name, layer: &layer{name: layerName, text: string(data)}, now: time.Now()}
	if err := p.file(root); err != nil {
		return nil, err
	}
	p.layer.index = newIndex(p.layer.rules)
	p.layer.sum = gatelatch.SumFields("gatelatch.policy.v1", []byte(layerName), data).String()
	return p.layer, nil
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

// A parser reads one file into a layer.
type parser struct {
	name    string
	layer   *layer
	now     time.Time
	section bool // of a project, in a file

	examples, patterns int // so far
}

// at returns where something stands: policy.yaml:3.
func (p *parser) at(n *yaml.Node) string { return fmt.Sprintf("%s:%d", p.name, n.Line) }

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
		default:
			return p.setting(key, k, v)
		}
	})
	if err == nil && !version {
		err = p.errorf(root, "version: 1 is missing")
	}
	return err
}

var effects = map[string]gatelatch.Effect{"allow": gatelatch.Allow, "ask": gatelatch.Ask, "deny": gatelatch.Deny}

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

// empty reports whether nothing stands behind a key.
func empty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// sequence calls fn for each item of a list, or for the only one if it is not
// in a list.
func (p *parser) sequence(n *yaml.Node, fn func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode {
		return fn(n)
	}
	for _, item := range n.Content {
		if err := fn(item); err != nil {
			return err
		}
	}
	return nil
}

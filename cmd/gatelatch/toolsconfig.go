package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gatelatch/gatelatch/toolset"
	"go.yaml.in/yaml/v3"
)

// checkToolsConfig refuses a section "tools" that can't be meant, by its line.
// raw was decoded into p before.
func checkToolsConfig(raw []byte, p *toolset.Policy) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil || len(doc.Content) == 0 {
		return err
	}
	tools := child(doc.Content[0], "tools")
	if n := empty(tools); n != nil {
		return fmt.Errorf("line %d: tools: a value is missing; leave the name out, or write [] for an empty list", n.Line)
	}
	err := p.Check()
	var bad *toolset.FieldError
	if !errors.As(err, &bad) {
		return err
	}
	at := tools
	for _, name := range bad.Path {
		if next := child(at, name); next != nil {
			at = next
		}
	}
	return fmt.Errorf("line %d: tools.%s: %s", at.Line, strings.Join(bad.Path, "."), bad.What)
}

// empty finds a name without a value. Such an allow-list would be no list, and
// let everything through.
func empty(n *yaml.Node) *yaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Tag == "!!null":
		return n
	case n.Kind == yaml.AliasNode:
		return empty(n.Alias)
	}
	for _, c := range n.Content {
		if bad := empty(c); bad != nil {
			return bad
		}
	}
	return nil
}

// child returns a member of a mapping by its name, or of a list by its index.
func child(n *yaml.Node, name string) *yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i+1]
			}
		}
	}
	if i, err := strconv.Atoi(name); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
		return n.Content[i]
	}
	return nil
}

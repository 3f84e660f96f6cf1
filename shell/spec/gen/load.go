package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A file is one program. docs/shell.md describes the format.
type file struct {
	Name    string
	Aliases string
	Source  string
	Groups  map[string]map[string]string // options that several commands share
	node    `yaml:",inline"`
}

// A node is a program or one of its commands.
type node struct {
	Traits      string
	Use         string
	Options     map[string]string
	Instead     string
	Help        string
	Operands    *string
	Does        string
	When        []condition
	Also        string // other names of a command
	Words       string // words that may stand in front of a command
	Commands    map[string]*node
	Grammar     string
	Output      string
	Environment *string
	Remember    string // what may follow it once it is remembered
	Examples    examples
}

type condition struct {
	With, Without string
	Operands      *string
	Does          string
}

type examples struct{ Allow, Ask []string }

type variables struct{ Safe, Risky string }

func load(dir string) ([]*file, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var files []*file
	seen := map[string]string{}
	for _, name := range names {
		f := &file{}
		if err := decode(name, f); err != nil {
			return nil, err
		}
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		for _, n := range f.names() {
			if other := seen[n]; other != "" {
				return nil, fmt.Errorf("%s: %q is in %s, too", filepath.Base(name), n, other)
			}
			seen[n] = filepath.Base(name)
		}
		files = append(files, f)
	}
	return files, nil
}

func loadVariables(name string) (*variables, error) {
	v := &variables{}
	return v, decode(name, v)
}

func decode(name string, v any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

func (f *file) names() []string { return append([]string{f.Name}, strings.Fields(f.Aliases)...) }

func (f *file) check() error {
	switch {
	case f.Name == "":
		return errors.New("no name")
	case f.Source == "":
		return errors.New("no source: say where the judgement can be checked")
	case len(f.Examples.Allow)+len(f.Examples.Ask) == 0:
		return errors.New("no examples")
	}
	return f.expand(&f.node)
}

// expand puts shared options in place and splits names of commands.
func (f *file) expand(n *node) error {
	own := map[string]bool{}
	for _, names := range n.Options {
		for _, name := range strings.Fields(names) {
			own[name] = true
		}
	}
	for _, group := range strings.Fields(n.Use) {
		options, ok := f.Groups[group]
		if !ok {
			return fmt.Errorf("no group %q", group)
		}
		for shape, names := range options {
			if n.Options == nil {
				n.Options = map[string]string{}
			}
			for _, name := range strings.Fields(names) {
				if !own[name] { // a command knows its own options better
					n.Options[shape] += " " + name
				}
			}
		}
	}
	flat := map[string]*node{}
	for _, key := range slices.Sorted(maps.Keys(n.Commands)) {
		c := n.Commands[key]
		if c == nil {
			c = &node{}
		}
		for _, name := range append(strings.Split(key, "|"), strings.Fields(c.Also)...) {
			copied := c.clone()
			copied.Also = ""
			if err := insert(flat, strings.Fields(name), copied); err != nil {
				return err
			}
		}
	}
	n.Commands = flat
	for name, c := range flat {
		if err := f.expand(c); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// clone copies what expand changes.
func (n *node) clone() *node {
	c := *n
	c.Options = maps.Clone(n.Options)
	c.Commands = map[string]*node{}
	for name, sub := range n.Commands {
		if sub == nil {
			sub = &node{}
		}
		c.Commands[name] = sub.clone()
	}
	return &c
}

// insert puts a command where its words lead.
func insert(into map[string]*node, words []string, c *node) error {
	if len(words) == 0 {
		return errors.New("a command has no name")
	}
	have, ok := into[words[0]]
	if len(words) > 1 {
		if !ok {
			have = &node{}
			into[words[0]] = have
		}
		if have.Commands == nil {
			have.Commands = map[string]*node{}
		}
		return insert(have.Commands, words[1:], c)
	}
	if ok && have.bare() {
		maps.Copy(c.Commands, have.Commands)
	} else if ok {
		return fmt.Errorf("%s is there twice", words[0])
	}
	into[words[0]] = c
	return nil
}

// bare reports whether a node only holds others.
func (n *node) bare() bool {
	return n.Operands == nil && len(n.Options) == 0 && n.Use == "" && n.Does == "" && n.Grammar == "" && n.Traits == "" && len(n.When) == 0
}

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// readonly refuses an option that does more than read.
func (w *writer) readonly(n *node) {
	for key, names := range n.Options {
		switch strings.TrimRight(key, "?+") {
		case "none", "text", "read", "dir":
		default:
			w.fail("readonly, but %s is %q", names, key)
		}
	}
	for _, c := range n.When {
		if c.Does != "" {
			w.fail("readonly, but does %q", c.Does)
		}
	}
}

// options writes them by name. A key is a shape, with ? if the value is glued
// or missing, + if a name stands in front of it, and perhaps actions: "text? exec".
func (w *writer) options(n *node) string {
	lines := map[string]string{}
	instead, help := strings.Fields(n.Instead), strings.Fields(n.Help)
	put := func(name, rest string) {
		if have, twice := lines[name]; twice && have != rest {
			w.fail("option %s is there twice", name)
		}
		lines[name] = rest
	}
	for key, names := range n.Options {
		parts := strings.Fields(key)
		kind, optional := strings.CutSuffix(parts[0], "?")
		kind, two := strings.CutSuffix(kind, "+")
		rest := ", takes: " + w.shape(kind)
		if kind == "none" {
			rest = ""
		}
		if optional {
			rest += ", optional: true"
		}
		if two {
			rest += ", two: true"
		}
		if len(parts) > 1 {
			rest += ", does: " + w.does(parts[1:])
		}
		for _, name := range strings.Fields(names) {
			line := rest
			if slices.Contains(instead, name) {
				line += ", instead: true"
			}
			put(name, line)
		}
	}
	for _, name := range help {
		put(name, ", help: true")
	}
	for _, name := range instead {
		if _, ok := lines[name]; !ok {
			w.fail("option %s is not listed", name)
		}
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&out, "{name: %q%s},", name, lines[name])
	}
	return out.String()
}

package shape

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Misfit is something in a document that its type has no place for.
type Misfit struct {
	Line int
	Path string
	What string
	Hint string
}

// Check lists what in a document does not fit t, in its order.
func Check(doc *yaml.Node, t reflect.Type) []Misfit {
	if len(doc.Content) == 0 {
		return nil // an empty file
	}
	if doc.Kind == yaml.DocumentNode {
		doc = doc.Content[0]
	}
	var c checker
	c.value(doc, field{typ: t}, "")
	return c.found
}

type checker struct {
	found []Misfit
	depth int
}

func (c *checker) add(n *yaml.Node, path, hint, format string, args ...any) {
	c.found = append(c.found, Misfit{n.Line, path, fmt.Sprintf(format, args...), hint})
}

// maxDepth stops what refers to itself.
const maxDepth = 50

func (c *checker) value(n *yaml.Node, f field, path string) {
	if c.depth++; c.depth > maxDepth {
		c.add(n, path, "", "is too deep")
		return
	}
	defer func() { c.depth-- }()
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	t := f.typ
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
	case t == duration:
		c.scalar(n, path, "a length of time", "such as 30s, 5m or 8h", func(s string) bool { _, err := time.ParseDuration(s); return err == nil })
	case t.Kind() == reflect.Struct:
		c.mapping(n, path, func(key *yaml.Node, value *yaml.Node) { c.key(key, value, t, path) })
	case t.Kind() == reflect.Map:
		c.mapping(n, path, func(key *yaml.Node, value *yaml.Node) { c.value(value, field{typ: t.Elem()}, join(path, key.Value)) })
	case t.Kind() == reflect.Slice:
		c.list(n, path, t.Elem())
	case t.Kind() == reflect.String:
		c.scalar(n, path, "a text", "", func(s string) bool { return len(f.enum) == 0 || slices.Contains(f.enum, s) || c.oneOf(n, path, f.enum) })
	case t.Kind() == reflect.Bool:
		c.scalar(n, path, "true or false", "", func(string) bool { return n.Tag == "!!bool" })
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		c.scalar(n, path, "a whole number", "", func(s string) bool { _, err := strconv.ParseInt(s, 0, 64); return err == nil })
	}
}

// oneOf says which texts there are. It is what scalar would say, in better words.
func (c *checker) oneOf(n *yaml.Node, path string, enum []string) bool {
	c.add(n, path, near(n.Value, enum), "%q is none of %s", n.Value, strings.Join(enum, ", "))
	return true
}

func (c *checker) scalar(n *yaml.Node, path, what, hint string, fits func(string) bool) {
	if n.Kind != yaml.ScalarNode || !fits(n.Value) {
		c.add(n, path, hint, "has to be %s, not %s", what, kind(n))
	}
}

func (c *checker) list(n *yaml.Node, path string, of reflect.Type) {
	if n.Kind != yaml.SequenceNode {
		c.add(n, path, "write [ … ], or one in a line after a dash", "has to be a list, not %s", kind(n))
		return
	}
	for _, item := range n.Content {
		c.value(item, field{typ: of}, path)
	}
}

func (c *checker) mapping(n *yaml.Node, path string, each func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		c.add(n, path, `write "key: value", each in a line`, "has to be a mapping, not %s", kind(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := seen[key.Value]; twice {
			c.add(key, join(path, key.Value), "", "stands here a second time; the first is on line %d", line)
			continue
		}
		seen[key.Value] = key.Line
		if key.Tag != "!!merge" {
			each(key, n.Content[i+1])
		}
	}
}

func (c *checker) key(key, value *yaml.Node, t reflect.Type, path string) {
	all := fields(t)
	var names []string
	for _, f := range all {
		names = append(names, f.name)
	}
	i := slices.Index(names, key.Value)
	if i < 0 {
		hint := near(key.Value, names)
		if hint == "" {
			slices.Sort(names)
			hint = "there is " + strings.Join(names, ", ")
		}
		c.add(key, join(path, key.Value), hint, "is no key that there is here")
		return
	}
	c.value(value, all[i], join(path, key.Value))
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return strconv.Quote(n.Value)
	}
}

// near asks about the name that was probably meant.
func near(wrong string, names []string) string {
	best, least := "", 1+len(wrong)/3
	for _, name := range names {
		if d := distance(strings.ToLower(wrong), name); d <= least && (best == "" || d < least) {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// distance is how many letters have to be changed, put in or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

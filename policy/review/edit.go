package review

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch/policy"
)

// Merge puts items, written without indent, at the beginning of lists of a
// policy file and leaves every other byte as it is. It returns an error rather
// than a file that does not hold the old rules and the new ones, and nothing
// else.
func Merge(data []byte, blocks map[string]string) ([]byte, error) {
	out, want := data, []byte("version: 1\n")
	for _, key := range slices.Sorted(maps.Keys(blocks)) {
		if blocks[key] == "" {
			continue
		}
		want = fmt.Appendf(want, "%s:\n%s", key, blocks[key])
		var err error
		if out, err = insert(out, key, blocks[key]); err != nil {
			return nil, err
		}
	}
	var all [3][]string
	for i, text := range [][]byte{data, want, out} {
		set, err := policy.Parse("policy.yaml", text)
		if err != nil {
			return nil, err
		}
		all[i] = identities(set)
	}
	both := slices.Concat(all[0], all[1])
	slices.Sort(both)
	if !slices.Equal(slices.Compact(both), all[2]) {
		return nil, errors.New("the rules can't be added to a file of this form")
	}
	return out, nil
}

// Add puts one rule into a policy file; with a project, into a section of its own
// for it.
func Add(data []byte, effect, match, project string) ([]byte, error) {
	type section struct {
		Path  string   `yaml:"path"`
		Allow []string `yaml:"allow,omitempty"`
		Deny  []string `yaml:"deny,omitempty"`
	}
	key, items := effect, any([]string{match})
	switch {
	case effect != "allow" && effect != "deny":
		return nil, fmt.Errorf("no rule is added that says %q", effect)
	case project != "" && effect == "allow":
		key, items = "projects", []section{{Path: project, Allow: []string{match}}}
	case project != "":
		key, items = "projects", []section{{Path: project, Deny: []string{match}}}
	}
	block, err := yaml.Marshal(items)
	if err != nil {
		return nil, err
	}
	return Merge(data, map[string]string{key: string(block)})
}

// insert puts a block behind a key.
func insert(data []byte, key, block string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("the file is empty")
	}
	indent, at := "  ", -1
	for i, root := 0, doc.Content[0]; i+1 < len(root.Content); i += 2 {
		k, list := root.Content[i], root.Content[i+1]
		if k.Value != key {
			continue
		}
		at = k.Line
		switch {
		case list.Kind == yaml.SequenceNode && list.Style&yaml.FlowStyle == 0:
			indent = strings.Repeat(" ", list.Column-1)
		case list.Kind == yaml.ScalarNode && list.Value == "": // nothing under it yet
		default:
			return nil, fmt.Errorf("policy.yaml:%d: %s is not written as a list with a line each", k.Line, key)
		}
	}
	var add bytes.Buffer
	lines := bytes.SplitAfter(data, []byte("\n"))
	if at < 0 {
		at = len(lines)
		if n := len(data); n > 0 && data[n-1] != '\n' {
			add.WriteByte('\n')
		}
		add.WriteString(key + ":\n")
	}
	for line := range strings.Lines(block) {
		add.WriteString(indent + line)
	}
	return slices.Concat(bytes.Join(lines[:at], nil), add.Bytes(), bytes.Join(lines[at:], nil)), nil
}

// identities are the rules in an order of their own: that of the file and where
// they stand in it does not matter.
func identities(set *policy.Set) (out []string) {
	for _, r := range set.Rules() {
		out = append(out, identity(r))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func identity(r policy.Rule) string {
	return fmt.Sprintf("%s %q %q %v %v %v", r.Effect, r.Project, r.Text, r.Until, r.Within, r.Where)
}

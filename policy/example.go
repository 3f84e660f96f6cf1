package policy

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Examples are tried in a made-up place, so that they come out the same on
// every machine: nothing is there, and no link leads anywhere.
const (
	exampleHome    = "/home/me"
	exampleProject = "/home/me/project"
)

// An example is an input that a rule must match, or must not.
type example struct {
	node *yaml.Node
	want bool
}

// try checks an example of a rule.
func (p *parser) try(r *rule, e example) error {
	tool := r.tool
	if r.prefix {
		tool += "example"
	}
	input, err := exampleInput(tool, e.node)
	if err != nil {
		return p.errorf(e.node, "the example can't be read: %v", err)
	}
	c := &gatelatch.Call{Kind: gatelatch.Permission, Tool: tool, Input: input, Dir: exampleProject}
	f := newFacts(c, &gatelatch.Session{Project: exampleProject}, world{home: exampleHome, disk: writtenDisk{}})
	if f.refused != "" {
		return p.errorf(e.node, "the example can't be read: %s", f.refused)
	}
	hits, err := r.match(f, nil)
	switch got := len(hits) > 0 && (r.Effect != gatelatch.Allow || f.shell == nil || f.shell.coveredBy(hits)); {
	case err != nil:
		return p.errorf(e.node, "the example can't be tried: %v", err)
	case got && !e.want:
		return p.errorf(e.node, "%s matches this example, and must not", r.Text)
	case !got && e.want:
		return p.errorf(e.node, "%s does not match this example", r.Text)
	}
	return nil
}

// exampleInput makes the input that an example stands for: a text is what the
// tool is about, an object is the input itself.
func exampleInput(tool string, n *yaml.Node) ([]byte, error) {
	if n.Kind != yaml.ScalarNode {
		var input map[string]any
		if aliased(n) {
			return nil, errors.New("an alias stands in it")
		}
		if err := n.Decode(&input); err != nil {
			return nil, errors.New("expected a text or an object")
		}
		return strictjson.Marshal(input)
	}
	given := n.Value
	var field string
	switch {
	case tool == "Bash":
		field = "command"
	case tool == "WebFetch":
		field = "url"
	case tool == "Skill":
		field = "skill"
	case pathTools[tool].field != "":
		field = pathTools[tool].field
		if rest, ok := strings.CutPrefix(given, "~/"); ok {
			given = exampleHome + "/" + rest
		}
	default:
		var input map[string]any
		if err := json.Unmarshal([]byte(given), &input); err != nil || input == nil {
			return nil, errors.New("for this tool it is an object: the input")
		}
		return []byte(given), nil
	}
	return strictjson.Marshal(map[string]string{field: given})
}

// aliased reports whether an alias stands in n: what it leads to may be large.
func aliased(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, aliased)
}

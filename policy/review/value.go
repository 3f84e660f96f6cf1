package review

import (
	"go.yaml.in/yaml/v3"
)

// value reads YAML as the JSON it stands for: a date is a text.
func (t *table) value(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		err := t.mapping(n, func(key string, _, v *yaml.Node) (err error) {
			out[key], err = t.value(v)
			return err
		})
		return out, err
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if out[i], err = t.value(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.ScalarNode:
		return t.scalar(n)
	default:
		return nil, t.errorf(n, "an input has no anchors or aliases")
	}
}

func (t *table) scalar(n *yaml.Node) (out any, err error) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return n.Value, nil
	case "!!bool", "!!int", "!!float", "!!null":
		if err = n.Decode(&out); err == nil {
			return out, nil
		}
	}
	return nil, t.errorf(n, "%s is no JSON value", n.ShortTag())
}

package toolset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// normaliseAll gives every tool a schema that all providers take. A tool whose
// schema has no such form is removed: its provider would refuse the whole
// request, without saying which tool was wrong.
func normaliseAll(tools []Tool, trace *Trace) []Tool {
	schemas := map[string]json.RawMessage{}
	out := keep(tools, Step{Label: SchemaLabel}, trace, func(t Tool) string {
		s, err := Normalise(t.Schema)
		if err != nil {
			return "its schema can't be used: " + err.Error()
		}
		schemas[t.Name] = s
		return ""
	})
	for i := range out {
		out[i].Schema = schemas[out[i].Name]
	}
	return out
}

// Normalise returns schema as one object: providers refuse a union at the root
// (O4). Of alternatives any property may come, and what all require is
// required. The same schema always gives the same bytes, and normalising twice
// is normalising once.
func Normalise(schema json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		schema = json.RawMessage(`{}`)
	}
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("it has %d bytes, the most is %d", len(schema), maxSchema)
	}
	n := &normaliser{root: schema}
	o, err := n.object(schema)
	if err != nil {
		return nil, err
	}
	return strictjson.Compact(o.bytes())
}

// object is an object schema in parts. Properties keep the order in which they
// came.
type object struct {
	props    []strictjson.Field
	required []string
	closed   json.RawMessage // additionalProperties, as it stands
	rest     []strictjson.Field
}

// refused are the keywords that providers do not take at the root, beside
// unions. What they would check, the tool has to.
var refused = []string{"enum", "const", "not", "$ref"}

// Limits, so that references can't make much out of little.
const (
	maxSchema = 64 << 10
	maxParts  = 200
)

type normaliser struct {
	root  []byte
	parts int // that were read
}

// object reads one schema that describes an object, with its alternatives.
func (n *normaliser) object(schema []byte) (o object, err error) {
	fields, err := strictjson.Fields(schema)
	if err != nil {
		return o, err
	}
	if n.parts++; n.parts > maxParts {
		return o, errors.New("it has too many parts, or refers to itself")
	}
	var parts []object // all of them hold
	for _, f := range fields {
		var more []object
		switch f.Name {
		case "type":
			err = isObject(f.Value)
		case "properties":
			o.props, err = strictjson.Fields(f.Value)
		case "required":
			err = strictjson.Unmarshal(f.Value, &o.required)
		case "additionalProperties":
			o.closed = f.Value
		case "anyOf", "oneOf":
			var one object
			one, err = n.either(f.Value)
			more = []object{one}
		case "allOf":
			more, err = n.branches(f.Value)
		case "$ref":
			var to object
			to, err = n.follow(f.Value)
			more = []object{to}
		default:
			if !slices.Contains(refused, f.Name) {
				o.rest = append(o.rest, f)
			}
		}
		if err != nil {
			return o, fmt.Errorf("%s: %w", f.Name, err)
		}
		parts = append(parts, more...)
	}
	for _, p := range parts {
		o = both(o, p)
	}
	return o, nil
}

// isObject checks that a schema can be met by an object: a tool's input is one.
func isObject(raw []byte) error {
	var one string
	var many []string
	if json.Unmarshal(raw, &one) == nil && one == "object" ||
		json.Unmarshal(raw, &many) == nil && slices.Contains(many, "object") {
		return nil
	}
	return errNoObject
}

var errNoObject = errors.New("it is not the schema of an object")

func (n *normaliser) branches(raw []byte) (out []object, err error) {
	var list []json.RawMessage
	if err := strictjson.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, s := range list {
		o, err := n.object(s)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// either is what holds if any of the alternatives does. One that no object can
// meet, such as null, is none.
func (n *normaliser) either(raw []byte) (out object, err error) {
	var list []json.RawMessage
	if err := strictjson.Unmarshal(raw, &list); err != nil {
		return out, err
	}
	found := false
	for _, s := range list {
		o, err := n.object(s)
		switch {
		case errors.Is(err, errNoObject):
			continue
		case err != nil:
			return out, err
		}
		o.rest = nil // a title or description of one is not that of all
		if found {
			o = eitherOf(out, o)
		}
		out, found = o, true
	}
	if !found {
		return out, errNoObject
	}
	return out, nil
}

func (n *normaliser) follow(ref []byte) (o object, err error) {
	var path string
	if err := json.Unmarshal(ref, &path); err != nil {
		return o, err
	}
	rest, local := strings.CutPrefix(path, "#/")
	at := n.root
	for _, name := range strings.Split(rest, "/") {
		if !local {
			return o, fmt.Errorf("%.100q is not in the schema itself", path)
		}
		fields, err := strictjson.Fields(at)
		if err != nil {
			return o, err
		}
		i := slices.IndexFunc(fields, func(f strictjson.Field) bool { return f.Name == name })
		if i < 0 {
			return o, fmt.Errorf("%.100q is not there", path)
		}
		at = fields[i].Value
	}
	return n.object(at)
}

func (o object) bytes() []byte {
	fields := []strictjson.Field{raw("type", []byte(`"object"`))}
	fields = append(fields, o.rest...)
	fields = append(fields, raw("properties", strictjson.Object(o.props)))
	if len(o.required) > 0 {
		list, _ := strictjson.Marshal(o.required) // strings
		fields = append(fields, raw("required", list))
	}
	if o.closed != nil {
		fields = append(fields, raw("additionalProperties", o.closed))
	}
	return strictjson.Object(fields)
}

func raw(name string, value []byte) strictjson.Field {
	return strictjson.Field{Name: name, Raw: []byte(`"` + name + `"`), Value: value}
}

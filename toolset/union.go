package toolset

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// both is what holds if a and b do.
func both(a, b object) object {
	a.props = mergeProps(a.props, b.props, "allOf")
	for _, name := range b.required {
		if !slices.Contains(a.required, name) {
			a.required = append(a.required, name)
		}
	}
	if a.closed == nil {
		a.closed = b.closed
	}
	for _, f := range b.rest {
		if !slices.ContainsFunc(a.rest, func(have strictjson.Field) bool { return have.Name == f.Name }) {
			a.rest = append(a.rest, f)
		}
	}
	return a
}

// eitherOf is what holds if a or b does: wider than both.
func eitherOf(a, b object) object {
	a.props = mergeProps(a.props, b.props, "anyOf")
	a.required = slices.DeleteFunc(slices.Clone(a.required), func(name string) bool { return !slices.Contains(b.required, name) })
	if !sameJSON(a.closed, b.closed) {
		a.closed = nil
	}
	return a
}

// mergeProps adds the properties of b to those of a. What both have stays as it
// is if it is the same; two enumerations of alternatives become one.
func mergeProps(a, b []strictjson.Field, keyword string) []strictjson.Field {
	a = slices.Clone(a)
	for _, f := range b {
		i := slices.IndexFunc(a, func(have strictjson.Field) bool { return have.Name == f.Name })
		switch {
		case i < 0:
			a = append(a, f)
		case !sameJSON(a[i].Value, f.Value):
			a[i].Value = combine(a[i].Value, f.Value, keyword)
		}
	}
	return a
}

// combine says one of two things about a property, or both of them.
func combine(a, b []byte, keyword string) []byte {
	if keyword == "anyOf" {
		if one := enumeration(a, b); one != nil {
			return one
		}
	}
	options := alternatives(a, keyword)
	for _, more := range alternatives(b, keyword) {
		if !slices.ContainsFunc(options, func(have json.RawMessage) bool { return sameJSON(have, more) }) {
			options = append(options, more)
		}
	}
	list, _ := strictjson.Marshal(options) // they were read before
	return strictjson.Object([]strictjson.Field{raw(keyword, list)})
}

// alternatives are the parts of what combine made, else the schema itself.
func alternatives(schema []byte, keyword string) []json.RawMessage {
	var list []json.RawMessage
	if fields, err := strictjson.Fields(schema); err == nil && len(fields) == 1 && fields[0].Name == keyword {
		if json.Unmarshal(fields[0].Value, &list) == nil {
			return list
		}
	}
	return []json.RawMessage{schema}
}

// enumeration makes one of two schemas that list values, so that a model still
// sees all the actions of a tool; nil if they are more than that.
func enumeration(a, b []byte) []byte {
	first, more := values(a), values(b)
	if first == nil || more == nil {
		return nil
	}
	for _, v := range more {
		if !slices.ContainsFunc(first, func(have json.RawMessage) bool { return sameJSON(have, v) }) {
			first = append(first, v)
		}
	}
	list, _ := strictjson.Marshal(first) // they were read before
	fields := []strictjson.Field{raw("enum", list)}
	if t := member(a, "type"); t != nil && sameJSON(t, member(b, "type")) {
		fields = slices.Insert(fields, 0, raw("type", t))
	}
	if d := member(a, "description"); d != nil && sameJSON(d, member(b, "description")) {
		fields = append(fields, raw("description", d))
	}
	return strictjson.Object(fields)
}

// values are those of an enum or const with nothing else that counts.
func values(schema []byte) (out []json.RawMessage) {
	fields, err := strictjson.Fields(schema)
	if err != nil {
		return nil
	}
	for _, f := range fields {
		switch f.Name {
		case "const":
			out = append(out, f.Value)
		case "enum":
			if json.Unmarshal(f.Value, &out) != nil {
				return nil
			}
		case "type", "title", "description", "default":
		default:
			return nil
		}
	}
	return out
}

func member(schema []byte, name string) []byte {
	fields, _ := strictjson.Fields(schema)
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// sameJSON compares but for white space.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return (a == nil) == (b == nil) && (a == nil || json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes()))
}

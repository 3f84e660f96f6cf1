// Package shape holds a YAML document against the Go type that it is read into:
// as a JSON Schema for editors, and by what does not fit, with its line.
//
// Fields are named by their yaml tag. A tag enum:"a,b" lists what a text may be.
package shape

import (
	"reflect"
	"strings"
	"time"
)

// field is one key of a mapping.
type field struct {
	name string
	typ  reflect.Type
	enum []string
}

// fields lists the keys of a struct; those of inlined structs stand among them.
func fields(t reflect.Type) (out []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(rest, "inline"):
			out = append(out, fields(f.Type)...)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = strings.ToLower(f.Name)
		}
		var enum []string
		if list := f.Tag.Get("enum"); list != "" {
			enum = strings.Split(list, ",")
		}
		out = append(out, field{name, f.Type, enum})
	}
	return out
}

var duration = reflect.TypeFor[time.Duration]()

// Schema returns the JSON Schema of what t is read from. says describes keys by
// their path: "hooks.path".
func Schema(t reflect.Type, says map[string]string) map[string]any {
	s := object(t, "", says)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	return s
}

func object(t reflect.Type, path string, says map[string]string) map[string]any {
	keys := map[string]any{}
	for _, f := range fields(t) {
		at := join(path, f.name)
		s := schema(f.typ, at, says)
		if len(f.enum) > 0 {
			s["enum"] = f.enum
		}
		if text := says[at]; text != "" {
			s["description"] = text
		}
		keys[f.name] = s
	}
	return map[string]any{"type": "object", "properties": keys, "additionalProperties": false}
}

func schema(t reflect.Type, path string, says map[string]string) map[string]any {
	if t == duration {
		return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schema(t.Elem(), path, says)
	case reflect.Struct:
		return object(t, path, says)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schema(t.Elem(), path, says)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schema(t.Elem(), path, says)}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		return map[string]any{"type": "string"}
	default:
		if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
			return map[string]any{"type": "integer"}
		}
		return map[string]any{}
	}
}

// Paths lists the paths of all keys that t has.
func Paths(t reflect.Type) (out []string) { return paths(t, "") }

func paths(t reflect.Type, path string) (out []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range fields(t) {
		at := join(path, f.name)
		out = append(append(out, at), paths(f.typ, at)...)
	}
	return out
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// object is one struct of the contract.
type object struct {
	name   string
	says   string
	asked  bool // only requests have it
	fields []field
}

type field struct {
	name     string
	says     string
	words    []string // that it may be; none is any
	optional bool
	shape    shape
}

// shape is what a value looks like in JSON.
type shape struct {
	kind form
	ref  string // of an object
	elem *shape // of an array or a map
}

type form int

const (
	anything form = iota
	text
	base64
	moment
	number
	integer
	boolean
	array
	mapping
	reference
)

// queries are the parameters that routes take besides their path and body; the
// table of routes does not hold them.
var queries = map[string][]query{
	"Calls": {
		{"state", text, "pending (oldest first) or settled (newest first)"},
		{"limit", integer, "how many calls at most"},
		{"after", text, "the id of the last call of the part before"},
		{"order", text, "of what is pending: oldest (the default) or newest first"},
		{"brief", boolean, "only what a row shows: such a call has to be read before it can be decided"},
		{"whole", integer, "how many calls of a brief list, from its beginning, are whole all the same"},
	},
	"Grants": {{"all", boolean, "also those that were revoked"}},
	"Trail": {
		{"after", integer, "the seq of the last event of the part before; 0 begins"},
		{"limit", integer, "how many events at most"},
	},
	"History": {
		{"agent", text, "the id of an agent's key"},
		{"session", text, "the id of a session"},
		{"tool", text, "the name of a tool"},
		{"outcome", text, "a state such as allowed or denied, or how it went: done, failed, unknown"},
		{"by", text, "who settled it: person or rules"},
		{"q", text, "words that must all occur in the call, its reasons or its decision"},
		{"after", text, "next of the part before"},
		{"limit", integer, "how many calls at most"},
	},
	"Insight": {
		{"days", integer, "how many days, up to today"},
		{"offset", integer, "minutes that the days are ahead of UTC"},
	},
	"Events": {{"after", integer, "the seq of the last event that is known"}},
}

type query struct {
	name string
	kind form
	says string
}

// contract reads the API's types. It fails on whatever it could only guess at.
func contract(dir string) ([]object, error) {
	said, err := comments(dir)
	if err != nil {
		return nil, err
	}
	answered := map[string]bool{}
	for _, t := range api.Answers() {
		answered[t.Name()] = true
	}
	var out []object
	seen := map[string]bool{}
	for _, t := range api.Types() {
		if seen[t.Name()] {
			return nil, fmt.Errorf("two types are called %s", t.Name())
		}
		seen[t.Name()] = true
		o := object{name: t.Name(), says: said[t.Name()], asked: !answered[t.Name()]}
		for i := range t.NumField() {
			f, ok, err := readField(t.Field(i))
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", t.Name(), t.Field(i).Name, err)
			}
			if ok {
				f.says, f.words = said[t.Name()+"."+t.Field(i).Name], enums[t.Name()+"."+f.name]
				o.fields = append(o.fields, f)
			}
		}
		out = append(out, o)
	}
	return out, nil
}

func readField(f reflect.StructField) (field, bool, error) {
	tag, tagged := f.Tag.Lookup("json")
	name, options, _ := strings.Cut(tag, ",")
	switch {
	case name == "-":
		return field{}, false, nil
	case f.Anonymous, !f.IsExported(), !tagged, name == "":
		return field{}, false, fmt.Errorf("has no name in JSON")
	case strings.Contains(options, "string"):
		return field{}, false, fmt.Errorf("the option %q is not known here", options)
	}
	s, err := shapeOf(f.Type)
	optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	return field{name: name, optional: optional || f.Type.Kind() == reflect.Pointer, shape: s}, true, err
}

var (
	textType = reflect.TypeFor[encoding.TextMarshaler]()
	jsonType = reflect.TypeFor[json.Marshaler]()
)

func shapeOf(t reflect.Type) (shape, error) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return shape{kind: moment}, nil
	case t == reflect.TypeFor[json.RawMessage]():
		return shape{kind: anything}, nil
	case t == reflect.TypeFor[[]byte]():
		return shape{kind: base64}, nil
	case t.Implements(textType):
		return shape{kind: text}, nil
	case t.Implements(jsonType):
		return shape{}, fmt.Errorf("%s writes its own JSON", t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Struct:
		return shape{kind: reference, ref: t.Name()}, nil
	case reflect.Slice:
		elem, err := shapeOf(t.Elem())
		return shape{kind: array, elem: &elem}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return shape{}, fmt.Errorf("a map by %s", t.Key())
		}
		elem, err := shapeOf(t.Elem())
		return shape{kind: mapping, elem: &elem}, err
	case reflect.String:
		return shape{kind: text}, nil
	case reflect.Bool:
		return shape{kind: boolean}, nil
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return shape{kind: integer}, nil
	case reflect.Float64:
		return shape{kind: number}, nil
	default:
		return shape{}, fmt.Errorf("%s has no form in JSON that is known here", t)
	}
}

var wildcard = regexp.MustCompile(`\{([a-z_]+)\}`)

// params are the names in a path such as /v1/calls/{id}.
func params(path string) []string {
	var out []string
	for _, m := range wildcard.FindAllStringSubmatch(path, -1) {
		out = append(out, m[1])
	}
	return out
}

// bodyName names the type of a route's body, or is "".
func bodyName(v any) string {
	if v == nil {
		return ""
	}
	return reflect.TypeOf(v).Name()
}

package strictjson

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Unmarshal checks raw and decodes it into v. A name that v has no field for
// is an error, also when it differs from a field's only in case.
func Unmarshal(raw []byte, v any) error { return unmarshal(raw, v, false) }

// UnmarshalLoose is Unmarshal for messages of others: it skips names that v
// has no field for. One that differs from a field's only in case is an error.
func UnmarshalLoose(raw []byte, v any) error { return unmarshal(raw, v, true) }

func unmarshal(raw []byte, v any, loose bool) error {
	if err := Check(raw); err != nil {
		return err
	}
	n := namer{dec: decoder(raw), loose: loose}
	if err := n.value(reflect.TypeOf(v)); err != nil {
		return err
	}
	return misfit(json.Unmarshal(raw, v))
}

func misfit(err error) error {
	var bad *json.UnmarshalTypeError
	if !errors.As(err, &bad) {
		return err
	}
	where := bad.Field
	if where == "" {
		where = "the value"
	}
	return at(bad.Offset, fmt.Sprintf("%s can't be a %s", cut(where), cut(bad.Value)))
}

// namer walks a value along the Go type it will be decoded into, because
// encoding/json fills a field "command" from a name "Command".
type namer struct {
	dec   *jsontext.Decoder
	loose bool
}

// What was found out about types: there are only as many as the program has.
var (
	structs sync.Map // reflect.Type → fields
	owners  sync.Map // reflect.Type → whether it decodes itself
)

// fields are a struct's, by name. folded has the same names, case-folded.
type fields struct {
	exact  map[string]reflect.Type
	folded map[string]bool
}

func (n *namer) value(t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer && !ownDecoder(t) {
		t = t.Elem()
	}
	kind := n.dec.PeekKind()
	switch {
	case t == nil || ownDecoder(t):
	case kind == '{' && t.Kind() == reflect.Struct:
		return n.object(fieldsOf(t))
	case kind == '{' && t.Kind() == reflect.Map:
		return n.entries(t.Elem())
	case kind == '[' && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		return n.array(t.Elem())
	}
	return syntax(n.dec.SkipValue())
}

func (n *namer) object(fs fields) error {
	return n.members(func(name string) error {
		t, ok := fs.exact[name]
		switch {
		case ok:
			return n.value(t)
		case fs.folded[fold(name)]:
			return at(n.dec.InputOffset(), "the name "+quote(name)+" differs from a known one in case")
		case !n.loose:
			return at(n.dec.InputOffset(), "unknown name "+quote(name))
		}
		return syntax(n.dec.SkipValue())
	})
}

func (n *namer) entries(elem reflect.Type) error {
	return n.members(func(string) error { return n.value(elem) })
}

func (n *namer) members(member func(name string) error) error {
	if _, err := n.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	for n.dec.PeekKind() != '}' {
		name, err := n.dec.ReadToken()
		if err != nil {
			return syntax(err)
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := n.dec.ReadToken()
	return syntax(err)
}

func (n *namer) array(elem reflect.Type) error {
	if _, err := n.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	for n.dec.PeekKind() != ']' {
		if err := n.value(elem); err != nil {
			return err
		}
	}
	_, err := n.dec.ReadToken()
	return syntax(err)
}

func fieldsOf(t reflect.Type) fields {
	if known, ok := structs.Load(t); ok {
		fs, _ := known.(fields)
		return fs
	}
	fs := fields{exact: map[string]reflect.Type{}, folded: map[string]bool{}}
	fs.add(t, map[reflect.Type]bool{})
	structs.Store(t, fs)
	return fs
}

// add takes the fields of t, then those of embedded structs that are not
// hidden by one with the same name.
func (fs fields) add(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		switch inner := deref(f.Type); {
		case tagged && tag == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
		case f.IsExported():
			fs.put(name, f)
		}
	}
	for _, e := range embedded {
		fs.add(e, seen)
	}
}

func (fs fields) put(name string, f reflect.StructField) {
	if name == "" {
		name = f.Name
	}
	if _, hidden := fs.exact[name]; !hidden {
		fs.exact[name] = f.Type
		fs.folded[fold(name)] = true
	}
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// ownDecoder reports whether values of t decode themselves: their names are
// their own business.
func ownDecoder(t reflect.Type) bool {
	if known, ok := owners.Load(t); ok {
		return known == true
	}
	own := decodesItself(t)
	owners.Store(t, own)
	return own
}

func decodesItself(t reflect.Type) bool {
	for _, i := range []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()} {
		if t.Implements(i) || reflect.PointerTo(t).Implements(i) {
			return true
		}
	}
	return false
}

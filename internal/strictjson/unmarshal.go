package strictjson

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// Unmarshal checks raw and decodes it into v. A name that v has no field for
// is an error, also when it differs from a field's only in case.
func Unmarshal(raw []byte, v any) error { return unmarshal(raw, v, false) }

// UnmarshalLoose is Unmarshal for messages of others: it skips names that v
// has no field for. One that differs from a field's only in case is an error.
func UnmarshalLoose(raw []byte, v any) error { return unmarshal(raw, v, true) }

func unmarshal(raw []byte, v any, loose bool) error {
	if _, err := read(raw, reading{into: reflect.TypeOf(v), loose: loose}); err != nil {
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

// target is the type whose fields or elements a value becomes, nil if that is
// none of ours.
func target(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer && !ownDecoder(t) {
		t = t.Elem()
	}
	if t == nil || ownDecoder(t) {
		return nil
	}
	return t
}

func elem(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		return t.Elem()
	}
	return nil
}

// field returns what the value of a name is decoded into, because encoding/json
// fills a field "command" from a name "Command".
func (c *checker) field(t reflect.Type, name string) (reflect.Type, error) {
	switch {
	case t == nil:
		return nil, nil
	case t.Kind() == reflect.Map:
		return t.Elem(), nil
	case t.Kind() != reflect.Struct:
		return nil, nil
	}
	fs := fieldsOf(t)
	inner, ok := fs.exact[name]
	switch {
	case ok:
		return inner, nil
	case fs.folded[fold(name)]:
		return nil, at(c.dec.InputOffset(), "the name "+quote(name)+" differs from a known one in case")
	case !c.loose:
		return nil, at(c.dec.InputOffset(), "unknown name "+quote(name))
	}
	return nil, nil
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

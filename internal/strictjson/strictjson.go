// Package strictjson refuses JSON that two programs could read differently.
//
// encoding/json takes the last of two equal names, matches names without
// regard to case and turns what is not UTF-8 into U+FFFD. Whoever judges one
// reading and runs another is lost, so all of that is an error here. Nothing
// is built at start-up: a program that runs once for each call links this.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a value.
const (
	MaxDepth = 64
	MaxNames = 10_000
)

const bom = "\uFEFF"

// Check reports why raw is not exactly one unambiguous JSON value: syntax,
// UTF-8, lone surrogates, names that are equal or differ only in case, depth,
// number of names, trailing bytes. The error tells the byte offset and never
// repeats much of the input.
func Check(raw []byte) error {
	_, err := read(raw, reading{})
	return err
}

// Decode checks raw and returns what it holds: [Members], a []any, a string, a
// json.Number, a bool or nil.
func Decode(raw []byte) (any, error) {
	if members, ok := quick(raw); ok {
		return members, nil
	}
	return read(raw, reading{build: true})
}

// Members are those of a JSON object, in their order. No two names differ
// only in case.
type Members []Member

// A Member is one name of an object, and its value.
type Member struct {
	Name  string
	Value any
}

// Get returns a member by its exact name.
func (o Members) Get(name string) (value any, has bool) {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value, true
		}
	}
	return nil, false
}

// reading is what a checker does beside.
type reading struct {
	build bool         // the value is wanted
	into  reflect.Type // what it will be decoded into: names must be of its fields
	loose bool         // or may be of none
}

func read(raw []byte, r reading) (any, error) {
	if bytes.HasPrefix(raw, []byte(bom)) {
		return nil, at(0, "a byte order mark")
	}
	c, _ := checkers.Get().(*checker)
	defer c.release()
	c.raw, c.names, c.reading = *bytes.NewBuffer(raw), 0, r
	c.dec.Reset(&c.raw, jsontext.AllowDuplicateNames(true))
	value, err := c.value(r.into)
	if err != nil {
		return nil, err
	}
	if _, err := c.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, at(c.dec.InputOffset(), "more text after the value")
	}
	return value, nil
}

// Compact checks raw and returns it without the white space between tokens.
// No other byte changes: numbers, escapes and the order of names stay.
func Compact(raw []byte) ([]byte, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return nil, syntax(err)
	}
	return out.Bytes(), nil
}

// Marshal is json.Marshal without the HTML escapes, which would change the
// bytes of a raw value: && would become \u0026\u0026.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// A Field is one member of an object. Name is decoded; Raw and Value are the
// bytes as they stand.
type Field struct {
	Name       string
	Raw, Value []byte
}

// Fields checks raw and returns the members of the object it holds, in order.
func Fields(raw []byte) ([]Field, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	dec := decoder(raw)
	if dec.PeekKind() != '{' {
		return nil, at(0, "not an object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, syntax(err)
	}
	var out []Field
	for dec.PeekKind() != '}' {
		f, err := field(dec)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func field(dec *jsontext.Decoder) (f Field, err error) {
	name, err := dec.ReadValue()
	if err != nil {
		return f, syntax(err)
	}
	f.Raw = bytes.Clone(name)
	value, err := dec.ReadValue()
	if err != nil {
		return f, syntax(err)
	}
	f.Value = bytes.Clone(value)
	return f, json.Unmarshal(f.Raw, &f.Name)
}

// decoder lets repeated names pass: checker compares them more strictly.
func decoder(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true))
}

// A checker is used again: a decoder is large.
type checker struct {
	dec   jsontext.Decoder
	raw   bytes.Buffer
	names int
	open  Members // of the objects around, the innermost last
	reading
}

var checkers = sync.Pool{New: func() any { return new(checker) }}

// release gives the checker back, without what it read. Room for many names
// goes with it: clearing that would cost all who come later.
func (c *checker) release() {
	const most = 256
	if cap(c.open) > most {
		c.open = nil
	}
	clear(c.open[:cap(c.open)])
	c.open, c.raw = c.open[:0], bytes.Buffer{}
	checkers.Put(c)
}

// value reads one value with everything in it, which will be decoded into t, if
// it is not nil. It can recurse no deeper than MaxDepth.
func (c *checker) value(t reflect.Type) (any, error) {
	tok, err := c.dec.ReadToken()
	if err != nil {
		return nil, syntax(err)
	}
	if c.dec.StackDepth() > MaxDepth {
		return nil, at(c.dec.InputOffset(), fmt.Sprintf("nested deeper than %d", MaxDepth))
	}
	switch kind := tok.Kind(); {
	case kind == '{':
		return c.object(target(t))
	case kind == '[':
		return c.array(elem(target(t)))
	case !c.build || kind == 'n':
		return nil, nil
	case kind == '"':
		return tok.String(), nil
	case kind == '0':
		return json.Number(tok.String()), nil
	default:
		return kind == 't', nil
	}
}

func (c *checker) array(elem reflect.Type) (any, error) {
	out := []any{}
	for c.dec.PeekKind() != ']' {
		value, err := c.value(elem)
		if err != nil {
			return nil, err
		}
		if c.build {
			out = append(out, value)
		}
	}
	return out, c.end()
}

func (c *checker) object(t reflect.Type) (any, error) {
	from, folded := len(c.open), map[string]bool(nil)
	for c.dec.PeekKind() != '}' {
		tok, err := c.dec.ReadToken()
		if err != nil {
			return nil, syntax(err)
		}
		name := tok.String()
		if c.names++; c.names > MaxNames {
			return nil, at(c.dec.InputOffset(), fmt.Sprintf("more than %d names", MaxNames))
		}
		if len(c.open)-from == fewNames {
			folded = foldAll(c.open[from:])
		}
		if repeats(c.open[from:], folded, name) {
			return nil, at(c.dec.InputOffset(), "the name "+quote(name)+" repeats one before it, or differs only in case")
		}
		inner, err := c.field(t, name)
		if err != nil {
			return nil, err
		}
		value, err := c.value(inner)
		if err != nil {
			return nil, err
		}
		c.open = append(c.open, Member{name, value})
	}
	all := c.open[from:]
	c.open = c.open[:from]
	if !c.build {
		return nil, c.end()
	}
	return append(make(Members, 0, len(all)), all...), c.end()
}

// fewNames is up to where names are compared one by one.
const fewNames = 16

func foldAll(members Members) map[string]bool {
	all := map[string]bool{}
	for _, m := range members {
		all[fold(m.Name)] = true
	}
	return all
}

// repeats reports whether a name was there before, and notes it if names are
// noted.
func repeats(members Members, folded map[string]bool, name string) bool {
	if folded != nil {
		name = fold(name)
		was := folded[name]
		folded[name] = true
		return was
	}
	return slices.ContainsFunc(members, func(m Member) bool { return strings.EqualFold(m.Name, name) })
}

func (c *checker) end() error {
	_, err := c.dec.ReadToken()
	return syntax(err)
}

// fold maps names to the same text if strings.EqualFold, and so encoding/json,
// takes them for equal: K and the Kelvin sign, s and the long s.
func fold(name string) string {
	out := make([]byte, 0, len(name))
	for _, r := range name {
		out = utf8.AppendRune(out, foldRune(r))
	}
	return string(out)
}

func foldRune(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}

func at(offset int64, what string) error {
	return fmt.Errorf("JSON, byte %d: %s", offset, what)
}

// syntax gives a decoder's error an offset and drops the path to it, which
// may be as long as the input.
func syntax(err error) error {
	if err == nil {
		return nil
	}
	var bad *jsontext.SyntacticError
	switch {
	case errors.As(err, &bad):
		return at(bad.ByteOffset, cut(bad.Err.Error()))
	case errors.Is(err, io.EOF):
		return at(0, "no value")
	}
	return fmt.Errorf("JSON: %s", cut(err.Error()))
}

func quote(s string) string { return fmt.Sprintf("%q", cut(s)) }

func cut(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	n := most
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

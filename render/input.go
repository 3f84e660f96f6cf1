package render

import (
	"bytes"
	"encoding/json"

	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// input is the input of a known tool. It remembers which fields were shown.
type input struct {
	fields []strictjson.Field
	shown  map[string]bool
	files  Files
}

// readInput returns nil if raw is not an unambiguous object.
func readInput(raw []byte) *input {
	fields, err := strictjson.Fields(raw)
	if err != nil {
		return nil
	}
	return &input{fields: fields, shown: map[string]bool{}}
}

func (in *input) raw(name string) []byte {
	for _, f := range in.fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// text returns a field that is a string; the caller shows it.
func (in *input) text(name string) (text string, ok bool) {
	raw := in.raw(name)
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	in.shown[name] = true
	return text, true
}

// is reports whether a field is true. It does not count as shown.
func (in *input) is(name string) bool { return string(in.raw(name)) == "true" }

// list decodes a field into v. Only if v has a place for everything in it does
// the field count as shown.
func (in *input) list(name string, v any) bool {
	raw := in.raw(name)
	if raw == nil || strictjson.UnmarshalLoose(raw, v) != nil {
		return false
	}
	in.shown[name] = strictjson.Unmarshal(raw, v) == nil
	return true
}

// rest shows the fields that are not shown yet.
func (in *input) rest() []Block {
	var b bytes.Buffer
	for _, f := range in.fields {
		if in.shown[f.Name] {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(f.Raw)
		b.WriteByte(':')
		b.Write(f.Value)
	}
	if b.Len() == 0 {
		return nil
	}
	return []Block{jsonBlock("Also in the input", []byte("{"+b.String()+"}"))}
}

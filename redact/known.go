package redact

import (
	"encoding/json"
	"slices"
	"strings"
)

// Known are the secrets of one input. A piece of it, taken out of what stands
// around it, no longer looks like one.
type Known []string

// shortest is the length below which a piece of a secret is also a word.
const shortest = 4

// In returns the secrets in the texts of some JSON.
func In(raw []byte) Known {
	masked := JSON(raw)
	if string(masked) == string(raw) {
		return nil
	}
	var k Known
	var v any
	if json.Unmarshal(raw, &v) != nil {
		k.add(string(raw))
	} else {
		k.walk("", v)
	}
	slices.SortFunc(k, func(a, b string) int { return len(b) - len(a) }) // the longest first
	return slices.Compact(k)
}

func (k *Known) walk(name string, v any) {
	switch v := v.(type) {
	case string:
		if Text(v) == v && under(name, v, v) != v {
			k.pieces(v)
		}
		k.add(v)
	case []any:
		for _, e := range v {
			k.walk("", e)
		}
	case map[string]any:
		for name, e := range v {
			k.add(name)
			k.walk(name, e)
		}
	}
}

func (k *Known) add(text string) {
	for _, f := range find(text) {
		k.pieces(text[f.from:f.to])
	}
}

// pieces adds a secret, and what a shell or a reader of lines makes of it.
func (k *Known) pieces(secret string) {
	split := func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"\\", r) }
	for _, p := range append(strings.FieldsFunc(secret, split), secret) {
		if len(p) >= shortest {
			*k = append(*k, p)
		}
	}
}

// Text masks those secrets in s, and whatever else is one.
func (k Known) Text(s string) string {
	for _, secret := range k {
		if strings.Contains(s, secret) {
			s = strings.ReplaceAll(s, secret, Mask(secret))
		}
	}
	return Text(s)
}

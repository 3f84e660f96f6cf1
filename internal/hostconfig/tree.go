package hostconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// node is a JSON value and where it stands in the text. Edits cut and insert
// at these places instead of printing the tree anew.
type node struct {
	kind       byte // '{', '[', '"', or 0 for a number, true, false and null
	start, end int
	kids       []kid
}

// kid is a member of an object, which begins at its name, or an element of an
// array, which has none.
type kid struct {
	name  string
	start int
	value *node
}

// member returns the value of an object's member, or nil.
func (n *node) member(name string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	for _, k := range n.kids {
		if k.name == name {
			return k.value
		}
	}
	return nil
}

func (n *node) raw(text []byte) []byte { return text[n.start:n.end] }

// parse reads settings: one JSON object without duplicate keys. Claude Code
// reads over a byte order mark, and so do we: as spaces, to keep all places.
func parse(text []byte) (*node, error) {
	if rest, marked := bytes.CutPrefix(text, []byte("\xef\xbb\xbf")); marked {
		text = append([]byte("   "), rest...)
	}
	if err := checkSyntax(text); err != nil {
		return nil, err
	}
	p := parser{text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber() // 1e999 is JSON, and no float
	root, err := p.value("")
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, fmt.Errorf("is %s, not a JSON object", describe(text, root))
	}
	return root, nil
}

func checkSyntax(text []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(text, &raw)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	at := max(int(syntax.Offset)-1, 0)
	if rest := text[min(at, len(text)):]; bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) {
		return fmt.Errorf("%s: has a comment, which JSON does not allow", place(text, at))
	}
	return fmt.Errorf("%s: is not valid JSON: %w", place(text, at), err)
}

type parser struct {
	text []byte
	dec  *json.Decoder
}

// next returns a token and its bounds. The decoder tells only where a token
// ends, so its start is where the separators before it end.
func (p *parser) next() (tok json.Token, start, end int, err error) {
	start = int(p.dec.InputOffset())
	tok, err = p.dec.Token()
	end = int(p.dec.InputOffset())
	for start < end && strings.IndexByte(" \t\r\n,:", p.text[start]) >= 0 {
		start++
	}
	return tok, start, end, err
}

func (p *parser) value(path string) (*node, error) {
	tok, start, end, err := p.next()
	if err != nil {
		return nil, err
	}
	n := &node{start: start, end: end}
	switch t := tok.(type) {
	case string:
		n.kind = '"'
	case json.Delim:
		n.kind = byte(t)
		return n, p.children(n, path)
	}
	return n, nil
}

func (p *parser) children(n *node, path string) error {
	seen := map[string]bool{}
	for p.dec.More() {
		k, err := p.kid(n, path, seen)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, k)
	}
	_, _, end, err := p.next()
	n.end = end
	return err
}

func (p *parser) kid(n *node, path string, seen map[string]bool) (kid, error) {
	if n.kind == '[' {
		v, err := p.value(fmt.Sprintf("%s[%d]", path, len(n.kids)))
		if err != nil {
			return kid{}, err
		}
		return kid{start: v.start, value: v}, nil
	}
	tok, start, _, err := p.next()
	if err != nil {
		return kid{}, err
	}
	name, ok := tok.(string)
	if !ok {
		return kid{}, fmt.Errorf("%s: a key is not a string", place(p.text, start))
	}
	if seen[name] {
		return kid{}, fmt.Errorf("%s: has the key %q twice", place(p.text, start), join(path, name))
	}
	seen[name] = true
	v, err := p.value(join(path, name))
	return kid{name: name, start: start, value: v}, err
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func place(text []byte, at int) string {
	before := text[:min(at, len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Sprintf("line %d, column %d", line, len(before)-bytes.LastIndexByte(before, '\n'))
}

func describe(text []byte, n *node) string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	}
	switch raw := string(n.raw(text)); raw {
	case "true", "false", "null":
		return raw
	}
	return "a number"
}

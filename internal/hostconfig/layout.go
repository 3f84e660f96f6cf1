package hostconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// layout is how a file is written.
type layout struct {
	newline string
	unit    string // one step of indentation
	flat    bool   // the file stands on one line
	spaced  bool   // on one line: {"a": 1, "b": 2} rather than {"a":1,"b":2}
}

// A new file looks as Claude Code itself would print it.
var plain = layout{newline: "\n", unit: "  "}

func layoutOf(text []byte, root *node) layout {
	l := plain
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		l.newline = "\r\n"
	}
	if len(root.kids) == 0 {
		return l
	}
	first := root.kids[0]
	indent, ok := indentOf(text, root)
	if ok {
		l.unit = indent
		return l
	}
	l.flat = true
	l.spaced = text[first.value.start-1] == ' '
	return l
}

// indentOf returns what stands before a container's first child on its line;
// false if the child shares the line with the container's bracket.
func indentOf(text []byte, n *node) (string, bool) {
	gap := text[n.start+1 : n.kids[0].start]
	i := bytes.LastIndexByte(gap, '\n')
	if i < 0 {
		return "", false
	}
	return string(gap[i+1:]), true
}

// lineIndent returns the indentation of the line on which at stands.
func lineIndent(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// insert adds a last child to a container; in an array the name is empty.
func insert(text []byte, l layout, n *node, name string, value any) ([]byte, error) {
	body, err := compact(value)
	if err != nil {
		return nil, err
	}
	if len(n.kids) == 0 {
		if l.flat {
			return splice(text, n.start+1, n.end-1, onOneLine(l, name, body)), nil
		}
		outer := lineIndent(text, n.start)
		inside := l.newline + outer + l.unit + onLines(l, outer+l.unit, name, body) + l.newline + outer
		return splice(text, n.start+1, n.end-1, inside), nil
	}
	last := n.kids[len(n.kids)-1].value.end
	if indent, ok := indentOf(text, n); ok {
		return splice(text, last, last, ","+l.newline+indent+onLines(l, indent, name, body)), nil
	}
	l.spaced = l.spaced || !l.flat
	comma := ","
	if l.spaced {
		comma = ", "
	}
	return splice(text, last, last, comma+onOneLine(l, name, body)), nil
}

func splice(text []byte, from, to int, with string) []byte {
	out := make([]byte, 0, len(text)+len(with))
	out = append(out, text[:from]...)
	out = append(out, with...)
	return append(out, text[to:]...)
}

// compact encodes without the escapes of HTML: a path with an "&" stays legible.
func compact(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func onLines(l layout, indent, name string, body []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, body, indent, l.unit); err != nil {
		panic("hostconfig: our own encoding is not JSON: " + err.Error())
	}
	out := bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(l.newline))
	if name == "" {
		return string(out)
	}
	return quoteName(name) + ": " + string(out)
}

func onOneLine(l layout, name string, body []byte) string {
	colon := ":"
	if l.spaced {
		body, colon = space(body), ": "
	}
	if name == "" {
		return string(body)
	}
	return quoteName(name) + colon + string(body)
}

// quoteName is for our own names, which need no escapes.
func quoteName(name string) string { return `"` + name + `"` }

// space puts a space behind each colon and comma of compact JSON.
func space(body []byte) []byte {
	out := make([]byte, 0, len(body)+len(body)/8)
	quoted := false
	for i := 0; i < len(body); i++ {
		c := body[i]
		out = append(out, c)
		switch {
		case c == '\\' && quoted:
			i++
			out = append(out, body[i])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ':' || c == ','):
			out = append(out, ' ')
		}
	}
	return out
}

package watch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch/render"
)

// Style is how a text looks. Each one but the colours works without colour, too.
type Style uint8

// Styles, to be joined.
const (
	Bold Style = 1 << iota
	Dim
	Under
	Reverse
	Close // worth a look
	Grave // worth two
	Added
	Removed
)

// Span is a text of one style.
type Span struct {
	Text  string
	Style Style
}

// Line is one line of the screen.
type Line []Span

// String is the line without its styles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

func (l Line) width() (n int) {
	for _, s := range l {
		n += width(s.Text)
	}
	return n
}

// columns is how many columns a character takes at most. To think it wider than
// it is breaks a line early; the other way round its end would be out of sight.
func columns(r rune) int {
	switch {
	case r < 0x1100, r >= 0x2000 && r < 0x2300, r >= 0x2500 && r < 0x2580, r == '⟨', r == '⟩':
		return 1
	}
	return 2
}

func width(s string) (n int) {
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// atoms calls fn for each piece of a text that stands whole on one line: a
// character, or the name of one that does not show. Nothing that a terminal
// would obey is among them but "\n".
func atoms(text string, fn func(atom string)) {
	for text != "" {
		if strings.HasPrefix(text, "⟨") {
			if name, _, ok := strings.Cut(text, "⟩"); ok && len(name) < 24 && strings.IndexFunc(name, hidden) < 0 {
				fn(name + "⟩")
				text = text[len(name)+len("⟩"):]
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\t':
			fn("    ")
		case r != '\n' && hidden(r), r == utf8.RuneError && size == 1:
			fn(render.OneLine(text[:size]))
		default:
			fn(text[:size])
		}
		text = text[size:]
	}
}

func hidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// wrapper breaks text into lines.
type wrapper struct {
	width       int
	first, next Span // what begins a line, and one that only goes on
	words       bool // breaks at blanks
	lines       []Line
	line        Line
	used        int
}

// wrap breaks spans into lines of that width, and at each "\n".
func (w wrapper) wrap(spans []Span) []Line {
	w.begin(w.first)
	for _, s := range spans {
		atoms(s.Text, func(atom string) {
			if atom == "\n" {
				w.lines = append(w.lines, w.line)
				w.begin(w.first)
				return
			}
			if w.used+width(atom) > w.width {
				w.fold(atom)
				if w.words && atom == " " {
					return
				}
			}
			w.put(Span{atom, s.Style})
		})
	}
	return append(w.lines, w.line)
}

func (w *wrapper) begin(edge Span) {
	w.line, w.used = nil, 0
	if edge.Text != "" {
		w.line, w.used = Line{edge}, width(edge.Text)
	}
}

func (w *wrapper) put(s Span) {
	w.used += width(s.Text)
	if n := len(w.line); n > 1 && w.line[n-1].Style == s.Style {
		w.line[n-1].Text += s.Text
		return
	}
	w.line = append(w.line, s)
}

// fold begins the next line. A word that was begun goes along, if it is short.
func (w *wrapper) fold(atom string) {
	var carry Line
	if w.words && atom != " " {
		carry = w.lastWord()
	}
	w.lines = append(w.lines, w.line)
	w.begin(w.next)
	for _, s := range carry {
		w.put(s)
	}
}

// lastWord takes the word at the end of the line, unless it is the whole line.
func (w *wrapper) lastWord() Line {
	for i := len(w.line) - 1; i > 0; i-- {
		at := strings.LastIndexByte(w.line[i].Text, ' ')
		if at < 0 {
			continue
		}
		carry := append(Line{{w.line[i].Text[at+1:], w.line[i].Style}}, w.line[i+1:]...)
		if carry.width() > w.width/3 {
			return nil
		}
		w.line = append(w.line[:i:i], Span{w.line[i].Text[:at+1], w.line[i].Style})
		return carry
	}
	return nil
}

// cut shortens a line that is shown in full elsewhere.
func cut(l Line, most int) Line {
	var out Line
	left, all := most, l.width() <= most
	for _, s := range l {
		var b strings.Builder
		atoms(strings.ReplaceAll(s.Text, "\n", " "), func(atom string) {
			n := width(atom)
			if !all {
				n++ // room for the sign
			}
			if left >= n {
				b.WriteString(atom)
				left -= width(atom)
			} else if left > 0 {
				b.WriteString("…")
				left = 0
			}
		})
		if b.Len() > 0 {
			out = append(out, Span{b.String(), s.Style})
		}
	}
	return out
}

package render

// What a person sees must be what runs, so escaping is injective: Unescape
// gives back every byte. Characters that show as themselves stay. All others
// stand by name or number in ⟨ ⟩, and so do these two brackets where the text
// itself has them.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What may stand without a name: more of it moves the rest out of sight.
const (
	maxBlank  = 7  // columns of blanks within a line; a tab counts for 4
	maxIndent = 64 // blanks at the start of a line
	maxBreaks = 3  // line breaks in a row
	maxMarks  = 4  // combining marks on one letter
)

// Escape makes a text of several lines safe to show. Line breaks, tabs and
// indentation stay; runs of other blanks, blanks at the end of a line and many
// empty lines are counted: ⟨·×12⟩, ⟨LF×9⟩.
func Escape(s string) string {
	text, _ := escape(s, true, nil)
	return text
}

// OneLine makes a text safe to show in one line: a line break is ⟨LF⟩.
func OneLine(s string) string {
	text, _ := escape(s, false, nil)
	return text
}

// escape also translates offsets: at[i] is where cuts[i] of s, or what follows
// if that is in the middle of something, stands in the text. cuts are sorted.
func escape(s string, lines bool, cuts []int) (text string, at []int) {
	e := escaper{src: s, lines: lines, marks: noLetter}
	e.out.Grow(len(s))
	for i := 0; i < len(s); {
		for len(at) < len(cuts) && cuts[len(at)] <= i {
			at = append(at, e.out.Len())
		}
		i += e.next(i)
	}
	for len(at) < len(cuts) {
		at = append(at, e.out.Len())
	}
	return e.out.String(), at
}

const noLetter = -1

type escaper struct {
	src   string
	lines bool
	out   strings.Builder
	marks int // shown since the last letter, or noLetter
}

// next writes what stands at i and returns its length in the source.
func (e *escaper) next(i int) int {
	switch c := e.src[i]; {
	case c == ' ' || c == '\t' && e.lines:
		return e.blanks(i)
	case c == '\n' && e.lines:
		return e.breaks(i)
	case c > ' ' && c < 0x7F:
		e.out.WriteByte(c)
		e.follow(rune(c))
		return 1
	}
	r, size := utf8.DecodeRuneInString(e.src[i:])
	switch {
	case r == utf8.RuneError && size == 1:
		e.name(fmt.Sprintf("x%02X", e.src[i]))
	case e.shows(r) && !confusing(r, e.src[:i], e.src[i+size:]):
		e.out.WriteRune(r)
		e.follow(r)
	default:
		e.name(nameOf(r))
	}
	return size
}

// follow notes what a combining mark after r would sit on.
func (e *escaper) follow(r rune) {
	switch {
	case unicode.IsLetter(r):
		e.marks = 0
	case unicode.IsMark(r):
		e.marks++
	default:
		e.marks = noLetter
	}
}

func (e *escaper) name(name string) {
	e.out.WriteString("⟨")
	e.out.WriteString(name)
	e.out.WriteString("⟩")
	e.marks = noLetter
}

// shows reports whether r is seen as itself where it stands.
func (e *escaper) shows(r rune) bool {
	switch {
	case slices.Contains(unseen, r), unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return false
	case unicode.Is(unicode.M, r):
		return !unicode.Is(unicode.Me, r) && e.marks != noLetter && e.marks < maxMarks
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}

// unseen are letters and symbols by category that show as a blank or as
// nothing, our brackets and what looks like them, and the signs that stand for
// what could not be shown.
var unseen = []rune{
	'\u2800', '\uFFFC', '\uFFFD', '\U0001D159', '\U00016FE4',
	'⟨', '⟩', '\u2329', '\u232A', '\u3008', '\u3009',
}

var names = map[rune]string{
	0x00: "NUL", 0x07: "BEL", 0x08: "BS", '\t': "TAB", '\n': "LF", '\r': "CR", 0x1B: "ESC", 0x7F: "DEL", 0xA0: "NBSP",
}

func nameOf(r rune) string {
	if name, ok := names[r]; ok {
		return name
	}
	digits := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	return "U+" + strings.Repeat("0", max(0, 4-len(digits))) + digits
}

// blanks writes a run of spaces and tabs, as it is or counted.
func (e *escaper) blanks(i int) int {
	set := " "
	if e.lines {
		set = " \t"
	}
	rest := strings.TrimLeft(e.src[i:], set)
	run := e.src[i : len(e.src)-len(rest)]
	last := rest == "" || e.lines && rest[0] == '\n'
	first := i == 0 || e.lines && e.src[i-1] == '\n'
	e.marks = noLetter
	switch {
	case last || first && !e.lines || first && len(run) > maxIndent || !first && columns(run) > maxBlank:
		e.counted(run)
	default:
		e.out.WriteString(run)
	}
	return len(run)
}

func columns(run string) int { return len(run) + 3*strings.Count(run, "\t") }

// counted writes blanks by kind and number.
func (e *escaper) counted(run string) {
	for run != "" {
		rest := strings.TrimLeft(run, run[:1])
		sign := "·"
		if run[0] == '\t' {
			sign = "TAB"
		}
		e.name(fmt.Sprintf("%s×%d", sign, len(run)-len(rest)))
		run = rest
	}
}

// breaks writes line breaks; too many leave two, with the number of those
// between them.
func (e *escaper) breaks(i int) int {
	n := len(e.src) - i - len(strings.TrimLeft(e.src[i:], "\n"))
	e.marks = noLetter
	if n <= maxBreaks {
		e.out.WriteString(e.src[i : i+n])
	} else {
		fmt.Fprintf(&e.out, "\n⟨LF×%d⟩\n", n-2)
	}
	return n
}

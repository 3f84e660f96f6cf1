package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	nine := strings.Repeat(" ", 9)
	for name, tt := range map[string]struct{ in, lines, one string }{
		"plain":                 {"ls -la", "ls -la", "ls -la"},
		"empty":                 {"", "", ""},
		"letters of others":     {"über 日本 שלום e\u0301 🙂", "über 日本 שלום e\u0301 🙂", "über 日本 שלום e\u0301 🙂"},
		"lines":                 {"a\n\tb\n    c", "a\n\tb\n    c", "a⟨LF⟩⟨TAB⟩b⟨LF⟩    c"},
		"our brackets":          {"⟨U+202E⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩"},
		"like our brackets":     {"〈x〉", "⟨U+3008⟩x⟨U+3009⟩", "⟨U+3008⟩x⟨U+3009⟩"},
		"right to left":         {"a\u202eb", "a⟨U+202E⟩b", "a⟨U+202E⟩b"},
		"controls":              {"\x00\x1b[2K\r\x7f\u0085", "⟨NUL⟩⟨ESC⟩[2K⟨CR⟩⟨DEL⟩⟨U+0085⟩", "⟨NUL⟩⟨ESC⟩[2K⟨CR⟩⟨DEL⟩⟨U+0085⟩"},
		"blanks":                {"a\u00a0b\u3000c", "a⟨NBSP⟩b⟨U+3000⟩c", "a⟨NBSP⟩b⟨U+3000⟩c"},
		"invisible":             {"a\u200bb\u00adc\u3164\u2800", "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+3164⟩⟨U+2800⟩", "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+3164⟩⟨U+2800⟩"},
		"tags":                  {"x\U000E0041", "x⟨U+E0041⟩", "x⟨U+E0041⟩"},
		"variation":             {"☺\ufe0f", "☺⟨U+FE0F⟩", "☺⟨U+FE0F⟩"},
		"a mark on a sign":      {"/\u0338", "/⟨U+0338⟩", "/⟨U+0338⟩"},
		"a mark on a name":      {"\u200b\u0301", "⟨U+200B⟩⟨U+0301⟩", "⟨U+200B⟩⟨U+0301⟩"},
		"many marks":            {"a\u0301\u0301\u0301\u0301\u0301", "a\u0301\u0301\u0301\u0301⟨U+0301⟩", "a\u0301\u0301\u0301\u0301⟨U+0301⟩"},
		"an enclosing mark":     {"a\u20e0", "a⟨U+20E0⟩", "a⟨U+20E0⟩"},
		"not UTF-8":             {"a\xffb\xc0", "a⟨xFF⟩b⟨xC0⟩", "a⟨xFF⟩b⟨xC0⟩"},
		"a replacement sign":    {"\ufffd", "⟨U+FFFD⟩", "⟨U+FFFD⟩"},
		"seven spaces":          {"a       b", "a       b", "a       b"},
		"eight spaces":          {"a        b", "a⟨·×8⟩b", "a⟨·×8⟩b"},
		"indentation":           {nine + "a", nine + "a", "⟨·×9⟩a"},
		"far indentation":       {strings.Repeat(" ", 65) + "a", "⟨·×65⟩a", "⟨·×65⟩a"},
		"trailing":              {"a \nb", "a⟨·×1⟩\nb", "a ⟨LF⟩b"},
		"trailing at the end":   {"a  ", "a⟨·×2⟩", "a⟨·×2⟩"},
		"trailing tab":          {"a\t", "a⟨TAB×1⟩", "a⟨TAB⟩"},
		"only blanks":           {"  \t", "⟨·×2⟩⟨TAB×1⟩", "⟨·×2⟩⟨TAB⟩"},
		"a tab":                 {"a\tb", "a\tb", "a⟨TAB⟩b"},
		"tabs that push":        {"a\t\t\tb", "a⟨TAB×3⟩b", "a⟨TAB⟩⟨TAB⟩⟨TAB⟩b"},
		"tabs and spaces":       {"a \t \tb", "a⟨·×1⟩⟨TAB×1⟩⟨·×1⟩⟨TAB×1⟩b", "a ⟨TAB⟩ ⟨TAB⟩b"},
		"leading in one line":   {" a", " a", "⟨·×1⟩a"},
		"empty lines":           {"a\n\n\nb", "a\n\n\nb", "a⟨LF⟩⟨LF⟩⟨LF⟩b"},
		"too many empty lines":  {"a\n\n\n\n\nb", "a\n⟨LF×3⟩\nb", "a⟨LF⟩⟨LF⟩⟨LF⟩⟨LF⟩⟨LF⟩b"},
		"CR LF":                 {"a\r\nb", "a⟨CR⟩\nb", "a⟨CR⟩⟨LF⟩b"},
		"a line of only blanks": {"a\n   \nb", "a\n⟨·×3⟩\nb", "a⟨LF⟩   ⟨LF⟩b"},
	} {
		if got := Escape(tt.in); got != tt.lines {
			t.Errorf("%s: got %q, want %q", name, got, tt.lines)
		}
		if got := OneLine(tt.in); got != tt.one {
			t.Errorf("%s in one line: got %q, want %q", name, got, tt.one)
		}
	}
}

// inert reports whether a shown text has nothing in it that hides, moves or
// imitates: stated apart from how escape decides it.
func inert(s string, lines bool) bool {
	letter := false
	for _, r := range s {
		mark := unicode.Is(unicode.M, r)
		switch {
		case r >= ' ' && r <= '~', r == '⟨', r == '⟩':
		case (r == '\n' || r == '\t') && lines:
		case !utf8.ValidRune(r) || r == utf8.RuneError || unicode.Is(unicode.C, r) || unicode.Is(unicode.Z, r):
			return false
		case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r):
			return false
		case !unicode.IsGraphic(r): // unassigned
			return false
		case mark && !letter:
			return false
		}
		letter = unicode.IsLetter(r) || mark && letter
	}
	return true
}

type failer interface{ Fatalf(string, ...any) }

func roundTrip(t failer, s string) {
	check(t, s, true)
	check(t, s, false)
}

func check(t failer, s string, lines bool) {
	text, _ := escape(s, lines, nil)
	if !inert(text, lines) {
		t.Fatalf("%q shows as %q", s, text)
	}
	if back, err := Unescape(text); err != nil || back != s {
		t.Fatalf("%q shows as %q and reads as %q, %v", s, text, back, err)
	}
}

// From here on nothing is assigned but tags, variation selectors and what is
// for private use.
const firstEmptyPlane = 0x40000

// Each code point stands alone in a line, and between letters, many in one
// text for speed. Where blanks and controls are, also alone in a text.
func TestEveryCodePoint(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for r := range rune(unicode.MaxRune + 1) {
		if utf8.ValidRune(r) {
			c := string(r)
			text.WriteString("a" + c + "b")
			if r < firstEmptyPlane {
				text.WriteString("\n" + c + "\n")
			}
			if r <= 0x3000 {
				roundTrip(t, c)
				roundTrip(t, "a"+c+"b")
			}
		}
		if r%128 == 127 {
			check(t, text.String(), true)
			text.Reset()
		}
	}
	for b := range 256 {
		roundTrip(t, string([]byte{byte(b)}))
		roundTrip(t, string([]byte{'a', byte(b), 'b'}))
	}
}

var anyText = rapid.OneOf(
	rapid.String(),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
		" ", "  ", "        ", "\t", "\n", "\n\n\n\n", "\r", "a", "b", "⟨", "⟩", "⟨·×9⟩", "⟨LF⟩", "×", "·", "\u0301", "\u202e", "ש", "\xff", "\xe2\x9f", "é", "U+0041",
	})), func(parts []string) string { return strings.Join(parts, "") }),
)

func TestEscapingIsInjective(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) { roundTrip(rt, anyText.Draw(rt, "text")) })
}

func TestUnescapeRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"⟨", "⟨⟩", "⟨LF", "⟨x⟩", "⟨xZZ⟩", "⟨U+110000⟩", "⟨U+D800⟩", "⟨·×99999999999⟩", "⟨·×-1⟩", "⟨BELL⟩", "⟨Q×2⟩"} {
		if got, err := Unescape(s); err == nil {
			t.Errorf("%s: got %q", s, got)
		}
	}
}

func TestCutsFallBetweenCharacters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := anyText.Draw(rt, "text")
		cut := rapid.IntRange(0, len(s)).Draw(rt, "cut")
		text, at := escape(s, true, []int{0, cut, len(s)})
		whole, _ := escape(s, true, nil)
		if text != whole || at[0] != 0 || at[2] != len(text) {
			rt.Fatalf("got %q %v, want %q", text, at, whole)
		}
		left, err := Unescape(text[:at[1]])
		if err != nil || !strings.HasPrefix(s, left) || len(left) < cut {
			rt.Fatalf("cut %q at %d: left is %q, %v", s, cut, left, err)
		}
	})
}

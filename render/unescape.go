package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxRun keeps a forged count from filling the memory.
const maxRun = 1 << 26

// Unescape gives back the text that Escape or OneLine made s from.
func Unescape(s string) (string, error) {
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(s, "⟨")
		b.WriteString(plain)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "⟩")
		text, ok := unname(name)
		if !closed || !ok {
			return "", fmt.Errorf("⟨%.20s names no character", rest)
		}
		b.WriteString(text)
		s = after
	}
}

func unname(name string) (string, bool) {
	if hex, ok := strings.CutPrefix(name, "U+"); ok {
		n, err := strconv.ParseUint(hex, 16, 32)
		return string(rune(n)), err == nil && n <= utf8.MaxRune && utf8.ValidRune(rune(n))
	}
	if hex, ok := strings.CutPrefix(name, "x"); ok {
		n, err := strconv.ParseUint(hex, 16, 8)
		return string([]byte{byte(n)}), err == nil
	}
	if sign, count, ok := strings.Cut(name, "×"); ok {
		n, err := strconv.ParseUint(count, 10, 32)
		text, known := map[string]string{"·": " ", "TAB": "\t", "LF": "\n"}[sign]
		if err != nil || !known || n > maxRun {
			return "", false
		}
		return strings.Repeat(text, int(n)), true
	}
	for r, n := range names {
		if n == name {
			return string(r), true
		}
	}
	return "", false
}

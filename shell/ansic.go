package shell

import (
	"strconv"
	"strings"
)

var escapesC = map[byte]string{
	'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
	'\\': "\\", '\'': "'", '"': "\"", '?': "?",
}

// unescapeC decodes what stands between $' and '. A NUL ends the text, as in
// bash.
func unescapeC(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		switch {
		case escapesC[c] != "":
			b.WriteString(escapesC[c])
		case c == 'x' || c == 'u' || c == 'U':
			width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			n, digits := number(s[i+1:], 16, width)
			if digits == 0 {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			if n == 0 {
				return b.String()
			}
			i += digits
			if c == 'x' {
				b.WriteByte(byte(n))
			} else {
				b.WriteRune(rune(n))
			}
		case c >= '0' && c <= '7':
			n, digits := number(s[i:], 8, 3)
			if n&0xff == 0 {
				return b.String()
			}
			i += digits - 1
			b.WriteByte(byte(n))
		case c == 'c' && i+1 < len(s):
			i++
			b.WriteByte(s[i] & 0x1f)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// number reads up to width digits.
func number(s string, base, width int) (n uint64, digits int) {
	for digits < width && digits < len(s) {
		if _, err := strconv.ParseUint(s[digits:digits+1], base, 8); err != nil {
			break
		}
		digits++
	}
	n, _ = strconv.ParseUint("0"+s[:digits], base, 64)
	return n, digits
}

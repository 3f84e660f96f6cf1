// Package qr draws a text as a QR code.
package qr

import (
	"strings"

	"rsc.io/qr"
)

// margin is how many light squares a reader needs around the code.
const margin = 4

// Rows returns the code: a row of dark (#) and light (.) squares each, with a
// margin around.
func Rows(text string) ([]string, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, err
	}
	rows := make([]string, 0, code.Size+2*margin)
	for y := -margin; y < code.Size+margin; y++ {
		var row strings.Builder
		for x := -margin; x < code.Size+margin; x++ {
			if code.Black(x, y) {
				row.WriteByte('#')
			} else {
				row.WriteByte('.')
			}
		}
		rows = append(rows, row.String())
	}
	return rows, nil
}

// Terminal draws rows with two of them to a line. Dark squares are left empty
// and light ones are drawn, as terminals mostly write light on dark; the colours
// are set, so that others show the same.
func Terminal(rows []string) string {
	var b strings.Builder
	for y := 0; y < len(rows); y += 2 {
		b.WriteString("\x1b[97;40m")
		for x := range rows[y] {
			low := y+1 < len(rows) && rows[y+1][x] == '.'
			switch high := rows[y][x] == '.'; {
			case high && low:
				b.WriteRune('█')
			case high:
				b.WriteRune('▀')
			case low:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}

package hostconfig

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// diffContext is how many unchanged lines are shown around a change.
const diffContext = 3

// diffCells bounds the table of the comparison. What is larger after equal
// beginnings and ends are set aside is shown as replaced.
const diffCells = 4_000_000

// line is a line of a diff: ' ' kept, '-' removed, '+' added.
type line struct {
	op   byte
	text string
}

// Diff shows a change in the unified form, "" if there is none. It is made for
// eyes: characters that could play tricks on a terminal are spelled out.
func Diff(name string, before, after []byte) string {
	lines := compare(splitLines(before), splitLines(after))
	var b strings.Builder
	old, now := 0, 0 // lines passed on either side
	for i := 0; i < len(lines); {
		from, to := nextHunk(lines, i)
		if from == to {
			break
		}
		for ; i < from; i++ {
			old, now = advance(lines[i].op, old, now)
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "--- %s\n+++ %s\n", Visible(name), Visible(name))
		}
		old, now = writeHunk(&b, lines[from:to], old, now)
		i = to
	}
	return b.String()
}

// nextHunk returns the bounds of the next change with the lines around it;
// changes whose surroundings meet are one.
func nextHunk(lines []line, at int) (from, to int) {
	changed := func(l line) bool { return l.op != ' ' }
	i := slices.IndexFunc(lines[at:], changed)
	if i < 0 {
		return at, at
	}
	from = max(at, at+i-diffContext)
	last := at + i
	for j := last; j < len(lines) && j-last <= 2*diffContext+1; j++ {
		if changed(lines[j]) {
			last = j
		}
	}
	return from, min(len(lines), last+1+diffContext)
}

func writeHunk(b *strings.Builder, lines []line, old, now int) (oldEnd, nowEnd int) {
	oldEnd, nowEnd = old, now
	for _, l := range lines {
		oldEnd, nowEnd = advance(l.op, oldEnd, nowEnd)
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(old, oldEnd), span(now, nowEnd))
	for _, l := range lines {
		text, whole := strings.CutSuffix(l.text, "\n")
		fmt.Fprintf(b, "%c%s\n", l.op, Visible(strings.TrimSuffix(text, "\r")))
		if !whole {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
	return oldEnd, nowEnd
}

func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func advance(op byte, old, now int) (oldNext, nowNext int) {
	switch op {
	case '-':
		return old + 1, now
	case '+':
		return old, now + 1
	}
	return old + 1, now + 1
}

func splitLines(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

func compare(a, b []string) []line {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	lines := mark(nil, ' ', a[:head])
	lines = append(lines, compareMiddle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return mark(lines, ' ', a[len(a)-tail:])
}

func mark(lines []line, op byte, texts []string) []line {
	for _, t := range texts {
		lines = append(lines, line{op, t})
	}
	return lines
}

// compareMiddle keeps a longest common subsequence.
func compareMiddle(a, b []string) []line {
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > diffCells {
		return mark(mark(nil, '-', a), '+', b)
	}
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	var lines []line
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = append(lines, line{' ', a[i]})
			i, j = i+1, j+1
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			lines = append(lines, line{'-', a[i]})
			i++
		default:
			lines = append(lines, line{'+', b[j]})
			j++
		}
	}
	return mark(mark(lines, '-', a[i:]), '+', b[j:])
}

// Visible spells out the characters that could play tricks on a terminal.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

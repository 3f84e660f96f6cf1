package render

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// maxDiff is the most lines of one side that are compared. Beyond it the old
// text is shown as removed and the new one as added, whole.
const maxDiff = 2000

func diffBlock(title, before, after string) Block {
	d := differ{}
	d.compare(lined(before), lined(after))
	return Block{
		Kind: "diff", Title: title, Lines: d.lines, Added: d.added, Removed: d.removed, Bytes: len(before) + len(after),
	}
}

// lined ends the last line, too. So a text that ends in a line break differs
// from one that does not by an empty line, which can be seen.
func lined(s string) string {
	if s == "" {
		return ""
	}
	return s + "\n"
}

// differ writes the lines of a diff with their numbers.
type differ struct {
	lines          []Line
	before, after  int // numbers of the last lines
	added, removed int
}

func (d *differ) compare(before, after string) {
	if strings.Count(before, "\n") > maxDiff || strings.Count(after, "\n") > maxDiff {
		d.remove(before)
		d.add(after)
		return
	}
	at := 0
	for _, e := range udiff.Lines(before, after) {
		d.keep(before[at:e.Start])
		d.remove(before[e.Start:e.End])
		d.add(e.New)
		at = e.End
	}
	d.keep(before[at:])
}

func (d *differ) keep(text string) {
	for line := range strings.Lines(text) {
		d.before, d.after = d.before+1, d.after+1
		d.line(Line{Op: " ", Old: d.before, New: d.after}, line)
	}
}

func (d *differ) remove(text string) {
	for line := range strings.Lines(text) {
		d.before, d.removed = d.before+1, d.removed+1
		d.line(Line{Op: "-", Old: d.before}, line)
	}
}

func (d *differ) add(text string) {
	for line := range strings.Lines(text) {
		d.after, d.added = d.after+1, d.added+1
		d.line(Line{Op: "+", New: d.after}, line)
	}
}

func (d *differ) line(l Line, text string) {
	l.Text = Escape(strings.TrimSuffix(text, "\n"))
	d.lines = append(d.lines, l)
}

// Change shows how a text would change, with a few lines around each place.
func Change(before, after string) []Line {
	const around = 3
	all := diffBlock("", before, after).Lines
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Op == " " {
			continue
		}
		for k := max(0, i-around); k < min(len(all), i+around+1); k++ {
			near[k] = true
		}
	}
	out := []Line{}
	for i, l := range all {
		if near[i] {
			out = append(out, l)
		}
	}
	return out
}

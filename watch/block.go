package watch

import (
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch/api"
)

// around is how many unchanged lines of a file stand beside a change.
const around = 3

// compared says what the text of a block was compared with.
var compared = map[string]string{
	"file":    "compared with the file as it is now",
	"cell":    "compared with the cell as it is now",
	"new":     "a new file",
	"gone":    "the file is not there",
	"changed": "this text is not in the file now",
	"many":    "stands in the file more than once, so it may fail",
	"every":   "at every match",
}

// block adds one part of what would run.
func (s *sheet) block(b api.Block) {
	s.title(b)
	if len(b.Segments) > 0 {
		var spans []Span
		for _, p := range b.Segments {
			style := Style(0)
			if p.Role == "prog" {
				style = Bold
			}
			if p.Asked {
				style |= Under
			}
			spans = append(spans, Span{p.Text, style})
		}
		s.theirs(solid, solidOn, spans...)
	}
	s.diff(b)
	for _, f := range b.Fields {
		s.ours("", Span{f.Name + ":", Bold})
		s.theirs(solid, solidOn, Span{f.Text, 0})
	}
	for i, q := range b.Questions {
		s.question(i, q)
	}
}

func (s *sheet) title(b api.Block) {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(b.Title)
	add(compared[b.Note])
	if b.Places > 0 {
		add(count(b.Places, "place"))
	}
	if b.Added+b.Removed > 0 {
		add(fmt.Sprintf("+%d −%d", b.Added, b.Removed))
	}
	if b.Bytes > 2000 {
		add(count(b.Bytes, "byte"))
	}
	if len(parts) > 0 {
		s.ours("", Span{strings.Join(parts, " · "), Dim})
	}
}

// diff adds changed lines. Lines of a file that stay as they are may be left
// out, because they are no part of the call; those of the call may not.
func (s *sheet) diff(b api.Block) {
	folds := b.Note == "file" || b.Note == "cell"
	for i := 0; i < len(b.Lines); i++ {
		if n := same(b.Lines[i:]); folds && n > 2*around+1 {
			head, tail := around, around
			if i == 0 {
				head = 0
			}
			if i+n == len(b.Lines) {
				tail = 0
			}
			for _, l := range b.Lines[i : i+head] {
				s.diffLine(l)
			}
			s.ours("", Span{fmt.Sprintf("  ⋯ %s that stay as they are", count(n-head-tail, "line")), Dim})
			for _, l := range b.Lines[i+n-tail : i+n] {
				s.diffLine(l)
			}
			i += n - 1
			continue
		}
		s.diffLine(b.Lines[i])
	}
}

func same(lines []api.Line) (n int) {
	for n < len(lines) && lines[n].Op == " " {
		n++
	}
	return n
}

func (s *sheet) diffLine(l api.Line) {
	style, number := Style(0), l.New
	switch l.Op {
	case "+":
		style = Added
	case "-":
		style, number = Removed, l.Old
	}
	edge := Span{fmt.Sprintf("%4d %s ", number, l.Op), style | Dim}
	next := Span{strings.Repeat(" ", width(edge.Text)-1) + "›", Dim}
	s.theirs(edge, next, Span{l.Text, style})
}

func (s *sheet) question(i int, q api.Question) {
	head := fmt.Sprintf("Question %d", i+1)
	if q.Multi {
		head += ", choose any number"
	}
	s.ours("", Span{head + ":", Bold})
	if q.Header != "" {
		s.theirs(dashed, dashedOn, Span{"[" + q.Header + "]", Dim})
	}
	s.theirs(dashed, dashedOn, Span{q.Question, 0})
	for k, o := range q.Options {
		number := Span{fmt.Sprintf("%3d ", k+1), Bold}
		text := []Span{{o.Label, Bold}}
		if o.Description != "" {
			// A line break would begin what looks like another option.
			text = append(text, Span{": " + strings.ReplaceAll(o.Description, "\n", "⟨LF⟩"), 0})
		}
		s.theirs(number, Span{"   ›", Dim}, text...)
	}
}

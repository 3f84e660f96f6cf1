// Package review is for people who work with rules: it explains a verdict in
// words, runs tables of expected verdicts, and finds what is wrong, risky or
// different in a policy.
package review

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/render"
)

// mainField is where a tool has the text that its rules are about.
var mainField = map[string]string{
	"Bash": "command", "WebFetch": "url", "Skill": "skill",
	"Read": "file_path", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path",
	"Glob": "path", "Grep": "path", "LS": "path",
}

// Input makes the input of a call from what a person types: a JSON object as it
// is, any other text as the field that the tool is about.
func Input(tool, text string) ([]byte, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		if err := strictjson.Check([]byte(text)); err != nil {
			return nil, fmt.Errorf("the input can't be read: %w", err)
		}
		return strictjson.Compact([]byte(text))
	}
	field := mainField[tool]
	switch {
	case text == "" && field == "":
		return []byte("{}"), nil
	case field == "":
		return nil, fmt.Errorf("the input of %s is a JSON object: '{\"name\": \"value\"}'", tool)
	}
	return strictjson.Marshal(map[string]string{field: text})
}

// Explain writes a verdict in words, each reason with the part of the input
// that it is about underlined. rules are those that it came from. Whatever the
// input holds, only characters that show reach w.
func Explain(w io.Writer, c *gatelatch.Call, v gatelatch.Verdict, rules []policy.Rule) {
	show(w, c)
	fmt.Fprintf(w, "\n%s: %s\n", v.Effect, outcome[v.Effect])
	for rs := v.Reasons; len(rs) > 0; {
		n := 1 // that say the same, of several parts
		for n < len(rs) && same(rs[0], rs[n]) {
			n++
		}
		fmt.Fprintf(w, "\n%-5s  %s\n", rs[0].Effect, render.OneLine(rs[0].Message))
		if from := origin(rs[0]); from != "" {
			fmt.Fprintf(w, "       %s\n", from)
		}
		for _, condition := range conditions(rs[0], rules) {
			fmt.Fprintf(w, "       where %s\n", render.OneLine(condition))
		}
		underline(w, c, rs[:n])
		rs = rs[n:]
	}
	for _, e := range v.Errors {
		fmt.Fprintf(w, "\nerror  %s\n", render.OneLine(e))
	}
}

// show prints the call: what it is mainly about, then what else is in its input.
func show(w io.Writer, c *gatelatch.Call) {
	fmt.Fprintf(w, "%s\n", render.OneLine(c.Tool))
	text := fieldText(c, mainField[c.Tool])
	fields, err := strictjson.Fields(c.Input)
	if text == "" || err != nil {
		draw(w, []render.Segment{{Text: render.Escape(string(c.Input))}})
		return
	}
	draw(w, []render.Segment{{Text: render.Escape(text)}})
	for _, f := range fields {
		if f.Name != mainField[c.Tool] {
			draw(w, []render.Segment{{Text: render.OneLine(f.Name + ": " + string(f.Value))}})
		}
	}
}

// conditions returns what the rule of a reason demands besides its pattern.
func conditions(r gatelatch.Reason, rules []policy.Rule) (out []string) {
	i := slices.IndexFunc(rules, func(rule policy.Rule) bool { return rule.Text == r.Rule && rule.Source == r.Source })
	if i < 0 {
		return nil
	}
	for _, c := range rules[i].Where {
		out = append(out, c.String())
	}
	return out
}

var outcome = map[gatelatch.Effect]string{
	gatelatch.Deny: "it is denied, nobody is asked", gatelatch.Ask: "a person is asked", gatelatch.Allow: "it runs, nobody is asked",
}

// origin says where a reason comes from.
func origin(r gatelatch.Reason) string {
	switch {
	case r.Rule == "":
		return layers[r.Layer]
	case r.Source == "":
		return render.OneLine(r.Rule) + ", " + layers[r.Layer]
	}
	return render.OneLine(r.Rule) + ", " + render.OneLine(r.Source) + ", " + layers[r.Layer]
}

var layers = map[string]string{
	"default": "built in", "machine": "the rules of this machine", "user": "your rules", "project": "the rules of the project",
	"session": "the mode of the session", "grant": "remembered", "hook": "a hook", "pause": "a pause",
}

// same reports whether two reasons differ only in the part they are about.
func same(a, b gatelatch.Reason) bool {
	return a.Effect == b.Effect && a.Layer == b.Layer && a.Rule == b.Rule && a.Source == b.Source && a.Message == b.Message && a.Field == b.Field
}

// underline shows the parts of the input that reasons are about, in the text of
// their field if that has them.
func underline(w io.Writer, c *gatelatch.Call, rs []gatelatch.Reason) {
	field := rs[0].Field
	if field == "" {
		field = mainField[c.Tool]
	}
	text := fieldText(c, field)
	var parts [][2]int
	for _, r := range rs {
		start, end := r.Start, r.End
		if start < 0 || end <= start || end > len(text) || text[start:end] != r.Part {
			start = strings.Index(text, r.Part)
			end = start + len(r.Part)
		}
		switch {
		case r.Part == "":
		case start < 0: // deeper in the input, or where links lead
			draw(w, render.Mark(r.Part, [][2]int{{0, len(r.Part)}}))
		default:
			parts = append(parts, [2]int{start, end})
		}
	}
	if len(parts) > 0 {
		draw(w, render.Mark(text, parts))
	}
}

// fieldText returns a field of the input, "" if it is no text.
func fieldText(c *gatelatch.Call, field string) string {
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(c.Input, &fields) != nil || json.Unmarshal(fields[field], &text) != nil {
		return ""
	}
	return text
}

// Of a long text only some lines are shown, and of long lines only a part.
const (
	maxLines   = 8
	maxColumns = 100
)

// draw prints a text, each marked part with carets below it. If there are any,
// lines without are left out.
func draw(w io.Writer, segments []render.Segment) {
	lines := [][]glyph{nil}
	some := false
	for _, s := range segments {
		some = some || s.Asked
		for _, r := range s.Text {
			if r == '\n' {
				lines = append(lines, nil)
				continue
			}
			lines[len(lines)-1] = append(lines[len(lines)-1], glyph{r, s.Asked})
		}
	}
	if some {
		lines = slices.DeleteFunc(lines, func(line []glyph) bool { return !slices.ContainsFunc(line, glyph.isMarked) })
	}
	for _, line := range lines[:min(len(lines), maxLines)] {
		drawLine(w, line)
	}
	if left := len(lines) - maxLines; left > 0 {
		fmt.Fprintf(w, "         … and %d lines more\n", left)
	}
}

type glyph struct {
	r      rune
	marked bool
}

func (g glyph) isMarked() bool { return g.marked }

func drawLine(w io.Writer, line []glyph) {
	line = near(line)
	var text, marks strings.Builder
	for _, g := range line {
		text.WriteRune(g.r)
		sign := " "
		if g.marked {
			sign = "^"
		}
		if g.r == '\t' {
			sign = "\t" // of the same width as the one above it
		}
		marks.WriteString(strings.Repeat(sign, columns(g.r)))
	}
	fmt.Fprintf(w, "         %s\n", text.String())
	if under := strings.TrimRight(marks.String(), " \t"); under != "" {
		fmt.Fprintf(w, "         %s\n", under)
	}
}

// near cuts a long line to what is around its first mark.
func near(line []glyph) []glyph {
	if len(line) <= maxColumns {
		return line
	}
	first := max(0, slices.IndexFunc(line, glyph.isMarked))
	from := max(0, min(first-20, len(line)-maxColumns))
	to := min(len(line), from+maxColumns)
	out := append([]glyph{}, line[from:to]...)
	if from > 0 {
		out[0] = glyph{'…', out[0].marked}
	}
	if to < len(line) {
		out[len(out)-1] = glyph{'…', out[len(out)-1].marked}
	}
	return out
}

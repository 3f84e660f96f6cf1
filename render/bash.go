package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

func bash(c *gatelatch.Call, in *input) (Card, bool) {
	command, ok := in.text("command")
	if !ok {
		return Card{}, false
	}
	// The description stands apart, as what the agent says.
	if text, ok := in.text("description"); ok {
		in.shown["description"] = text == c.Claim
	}
	return Card{
		Icon: iconTerm, Says: runs(command), Subject: OneLine(command),
		Blocks: []Block{{Kind: "command", Segments: segments(command, c.Verdict.Reasons), Bytes: len(command)}},
	}, true
}

// runs says what a command line does. A program's name stands in it only if it
// can't be taken for words of ours.
func runs(command string) string {
	a := shell.Analyse(command)
	if a.Err != "" {
		return "Runs a script that can't be read"
	}
	found := slices.DeleteFunc(slices.Clone(a.Commands), func(c shell.Command) bool { return c.Guess })
	switch len(found) {
	case 0:
		return "Runs a script without a command"
	case 1:
		if program := name(found[0].Words[0]); program == found[0].Words[0] {
			return "Runs " + program
		}
		return "Runs one command"
	}
	return fmt.Sprintf("Runs %d commands", len(found))
}

type span struct{ start, end int }

// segments splits the command at what the reasons that ask or deny spoke about.
func segments(command string, reasons []gatelatch.Reason) []Segment {
	spans := asked(reasons, len(command))
	var cuts []int
	for _, s := range spans {
		cuts = append(cuts, s.start, s.end)
	}
	text, at := escape(command, true, cuts)
	var out []Segment
	add := func(from, to int, asked bool) {
		if from < to {
			out = append(out, Segment{Text: text[from:to], Asked: asked})
		}
	}
	last := 0
	for i := range spans {
		add(last, at[2*i], false)
		add(at[2*i], at[2*i+1], true)
		last = at[2*i+1]
	}
	add(last, len(text), false)
	return out
}

// asked returns the spans of the reasons, in order and without overlaps.
func asked(reasons []gatelatch.Reason, length int) []span {
	var all []span
	for _, r := range reasons {
		if r.Effect < gatelatch.Allow && 0 <= r.Start && r.Start < r.End && r.End <= length {
			all = append(all, span{r.Start, r.End})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var out []span
	for _, s := range all {
		if n := len(out); n > 0 && s.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

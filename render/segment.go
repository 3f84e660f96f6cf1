package render

import (
	"cmp"
	"slices"

	"github.com/gatelatch/gatelatch"
)

// segments splits a text at what the reasons that ask or deny spoke about.
func segments(text string, reasons []gatelatch.Reason) []Segment {
	return dissect(text, asked(reasons, len(text)), nil, nil)
}

// dissect splits a text at what was asked about and, if it is a command, at
// its parts and their words. Spans of one kind are in order and do not overlap.
// What stands between parts belongs to the next one.
func dissect(text string, spans, parts []span, words []word) (out []Segment) {
	cuts := []int{0, len(text)}
	for _, s := range slices.Concat(spans, parts) {
		cuts = append(cuts, s.start, s.end)
	}
	for _, w := range words {
		cuts = append(cuts, w.start, w.end)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	shown, at := escape(text, true, cuts)
	for i, next := range cuts[1:] {
		for len(spans) > 0 && spans[0].end <= cuts[i] {
			spans = spans[1:]
		}
		for len(words) > 0 && words[0].end <= cuts[i] {
			words = words[1:]
		}
		s := Segment{Text: shown[at[i]:at[i+1]], Asked: len(spans) > 0 && spans[0].start <= cuts[i]}
		switch {
		case parts == nil:
		case len(words) > 0 && words[0].start <= cuts[i]:
			s.Role = words[0].role
		default:
			s.Role = "op"
		}
		s.Part = partAt(parts, next)
		out = add(out, s)
	}
	return out
}

// partAt returns the number of the part that what ends there belongs to.
func partAt(parts []span, end int) int {
	i, _ := slices.BinarySearchFunc(parts, end, func(p span, end int) int { return cmp.Compare(p.end, end) })
	return min(i+1, len(parts))
}

// add joins what looks the same.
func add(list []Segment, s Segment) []Segment {
	if s.Text == "" {
		return list
	}
	if n := len(list); n > 0 && list[n-1].Asked == s.Asked && list[n-1].Role == s.Role && list[n-1].Part == s.Part {
		list[n-1].Text += s.Text
		return list
	}
	return append(list, s)
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

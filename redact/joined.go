package redact

import "strings"

// findJoined returns the secrets that quotes divide: a shell reads "AK""IA…" as
// one word. Quotes between two letters or digits are left out for it.
func findJoined(s string) (out []span) {
	if !strings.ContainsAny(s, `"'`) {
		return nil
	}
	text, cuts := join(s)
	if len(cuts) == 0 {
		return nil
	}
	// place is where a byte of the joined text stands in s.
	next, off := 0, 0
	place := func(at int) int {
		for next < len(cuts) && cuts[next].from-off < at {
			off += cuts[next].to - cuts[next].from
			next++
		}
		return at + off
	}
	for _, f := range findIn(text) {
		from := place(f.from)
		if next < len(cuts) && cuts[next].from-off == f.from { // it begins behind the quotes
			from += cuts[next].to - cuts[next].from
		}
		before := next
		if to := place(f.to); next > before {
			out = append(out, span{from, to})
		}
	}
	return out
}

// join leaves out the quotes inside of words, and tells where they were.
func join(s string) (string, []span) {
	var b strings.Builder
	var cuts []span
	kept := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '"' && s[i] != '\'' {
			continue
		}
		from := i
		for i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\'') {
			i++
		}
		if from == 0 || i+1 == len(s) || !wordy[s[from-1]] || !wordy[s[i+1]] {
			continue
		}
		b.WriteString(s[kept:from])
		kept = i + 1
		cuts = append(cuts, span{from, i + 1})
	}
	b.WriteString(s[kept:])
	return b.String(), cuts
}

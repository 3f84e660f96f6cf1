package redact

import (
	"cmp"
	"slices"
	"strings"
)

type span struct{ from, to int }

// scanner looks at each byte once, and from some of them a bounded way back:
// hostile text costs no more than other text.
type scanner struct {
	s     string
	at    int
	spans []span
	line  int // the command up to here was looked at for options of its program
	noJWT int // none begins before
	fresh int // a word begins here
}

// longest is how much of something decides whether it is a secret. What is
// one is taken whole.
const longest = 256

// find returns the secrets in s, in order. A mask is an end of everything.
func find(s string) (out []span) {
	for at := 0; at < len(s); {
		end, next := nextMask(s, at)
		for _, f := range merge(append(findIn(s[at:end]), findJoined(s[at:end])...)) {
			out = append(out, span{at + f.from, at + f.to})
		}
		at = next
	}
	return out
}

func findIn(s string) []span {
	f := scanner{s: s}
	for f.at < len(s) {
		if !f.step() {
			f.at++
		}
	}
	return merge(f.spans)
}

// nextMask returns where the next mask begins and ends.
func nextMask(s string, at int) (from, to int) {
	for at < len(s) {
		i := strings.Index(s[at:], maskOpen)
		if i < 0 {
			break
		}
		if at += i; masked(s, at) {
			return at, at + maskLen
		}
		at++
	}
	return len(s), len(s)
}

// merge puts spans in order, and those together that overlap.
func merge(in []span) (out []span) {
	slices.SortFunc(in, func(a, b span) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	for _, f := range in {
		if n := len(out); n > 0 && f.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, f.to)
			continue
		}
		out = append(out, f)
	}
	return out
}

// take notes a secret and goes on behind it.
func (f *scanner) take(from, to int) bool {
	f.mark(from, to)
	f.at = max(f.at+1, to)
	f.fresh = f.at
	return true
}

// mark notes a secret further on.
func (f *scanner) mark(from, to int) {
	if from < to {
		f.spans = append(f.spans, span{from, to})
	}
}

// step reports whether it went on by itself.
func (f *scanner) step() bool {
	switch c := f.s[f.at]; {
	case c == '=':
		return f.named(f.at)
	case c == ':':
		return f.userinfo() || f.named(f.at)
	case c == '-':
		return f.pem() || f.option()
	case alnum[c] && f.edge():
		return f.known() || f.jwt() || f.numbered() || f.said()
	}
	return false
}

// edge reports whether a word begins here, perhaps behind an escape.
func (f *scanner) edge() bool {
	i, s := f.at, f.s
	switch {
	case i == f.fresh || !alnum[s[i-1]]:
		return true
	case i > 1 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0:
		return true
	case i > 2 && s[i-3] == '%' && hexa[s[i-1]] && hexa[s[i-2]]:
		return true
	}
	return i > 5 && s[i-6] == '\\' && s[i-5] == 'u' && hexa[s[i-1]] && hexa[s[i-2]] && hexa[s[i-3]] && hexa[s[i-4]]
}

// run returns the end of what is made of a set.
func run(s string, i int, of *set) int {
	for i < len(s) && of[s[i]] {
		i++
	}
	return i
}

func (f *scanner) known() bool {
	if !kindPairs.has(f.s, f.at) {
		return false
	}
	for _, k := range byFirst[f.s[f.at]] {
		if !strings.HasPrefix(f.s[f.at:], k.prefix) {
			continue
		}
		from := f.at + len(k.prefix)
		if end := run(f.s[:min(len(f.s), from+longest)], from, k.of); end-from >= k.least && (k.least < 29 || mixed(f.s[from:end])) {
			return f.take(f.at, run(f.s, end, k.of))
		}
	}
	return false
}

// mixed reports whether a long run has letters and digits: a path has not.
func mixed(s string) bool {
	return strings.ContainsAny(s, digits) && strings.ContainsAny(s, upper+lower)
}

// jwt takes signed and encrypted tokens.
func (f *scanner) jwt() bool {
	if f.at < f.noJWT || !strings.HasPrefix(f.s[f.at:], "eyJ") {
		return false
	}
	end := run(f.s, f.at, &dotted)
	if strings.Count(f.s[f.at:end], ".") < 2 || end-f.at < 30 {
		f.noJWT = end
		return false
	}
	return f.take(f.at, end)
}

// numbered takes bots' tokens: digits, a colon, and 35 more; or three parts.
func (f *scanner) numbered() bool {
	s := f.s
	if c := s[f.at]; (c < '0' || c > '9') && (c < 'M' || c > 'O') {
		return false
	}
	end := run(s[:min(len(s), f.at+30)], f.at, &wordy)
	switch n := end - f.at; {
	case end >= len(s):
	case s[end] == ':' && n >= 8 && n <= 10 && strings.Trim(s[f.at:end], digits) == "":
		if to := run(s, end+1, &wordy); to-end-1 >= 34 {
			return f.take(f.at, to)
		}
	case s[end] == '.' && n >= 23 && n <= 28 && strings.IndexByte("MNO", s[f.at]) >= 0:
		mid := run(s[:min(len(s), end+9)], end+1, &wordy)
		if to := run(s, min(mid+1, len(s)), &wordy); mid-end == 7 && mid < len(s) && s[mid] == '.' && to-mid > 27 {
			return f.take(f.at, to)
		}
	}
	return false
}

// pem takes private keys up to their end, or to the end of the text.
func (f *scanner) pem() bool {
	const begin, end = "-----BEGIN ", "-----END "
	rest := f.s[f.at:]
	if !strings.HasPrefix(rest, begin) {
		return false
	}
	title := rest[len(begin):min(len(rest), len(begin)+64)]
	title, _, _ = strings.Cut(title, "-----")
	if !strings.Contains(title, "PRIVATE KEY") {
		return false
	}
	from := f.at + min(len(rest), len(begin)+len(title)+5)
	to := len(f.s)
	if i := strings.Index(f.s[from:], end); i >= 0 {
		to = from + i
	}
	return f.take(from, to)
}

// userinfo takes the password of a URL, or a long name without one.
func (f *scanner) userinfo() bool {
	if !strings.HasPrefix(f.s[f.at:], "://") {
		return false
	}
	from := f.at + 3
	end := from
	for end < len(f.s) && strings.IndexByte("/\\ \t\r\n\"'<>`", f.s[end]) < 0 {
		end++
	}
	at := strings.LastIndexByte(f.s[from:end], '@')
	if at < 0 {
		return false
	}
	user, _, both := strings.Cut(f.s[from:from+at], ":")
	switch {
	case both && f.worth(from+len(user)+1, from+at, 1):
		return f.take(from+len(user)+1, from+at)
	case !both && dense(user):
		return f.take(from, from+at)
	}
	return false
}

// worth reports whether a value is one, and not a name for one.
func (f *scanner) worth(from, to, least int) bool {
	return to-from >= least && !reference(f.s[from:to])
}

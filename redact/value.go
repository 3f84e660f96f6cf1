package redact

import "strings"

// named looks for NAME=value, "name": "value" and headers at a separator.
func (f *scanner) named(sep int) bool {
	name := f.nameBefore(sep)
	switch {
	case strings.EqualFold(name, "authorization"), strings.EqualFold(name, "proxy-authorization"):
		return f.header(sep, true)
	case strings.EqualFold(name, "cookie"), strings.EqualFold(name, "set-cookie"):
		return f.header(sep, false)
	}
	w := weigh(name)
	if w == none {
		return false
	}
	at := sep + 1
	for at < len(f.s) && at < sep+3 && strings.IndexByte("=:>", f.s[at]) >= 0 {
		at++
	}
	spaced := at
	for at < len(f.s) && at < spaced+8 && (f.s[at] == ' ' || f.s[at] == '\t') {
		at++
	}
	prose := f.s[sep] == ':' && at > spaced
	return f.judge(w, at, prose)
}

// judge takes the value at i if a name of such weight makes it a secret.
func (f *scanner) judge(w weight, i int, prose bool) bool {
	from, to := value(f.s[:min(len(f.s), i+longest)], i)
	v := f.s[from:to]
	ok := false
	switch {
	case v == "" || reference(v) || from == i && called(v):
	case w == sure:
		ok = !prose || from > i || len(v) >= 4
	case w == likely:
		ok = len(v) >= 8 && !plain(v) || len(v) >= 24 && dense(v)
	default:
		ok = dense(v)
	}
	if !ok {
		return false
	}
	return f.take(value(f.s, i))
}

// called reports whether v is a call in some program's text.
func called(v string) bool {
	i := strings.IndexByte(v, '(')
	return i > 0 && run(v, 0, &dotted) == i
}

// nameBefore returns the name that ends before a separator.
func (f *scanner) nameBefore(sep int) string {
	s, to := f.s, sep
	for to > 0 && sep-to < 4 && strings.IndexByte(" \t\"'\\]", s[to-1]) >= 0 {
		to--
	}
	from := to
	for from > 0 && to-from <= longestName && dotted[s[from-1]] {
		from--
	}
	switch {
	case from > 0 && from < to && s[from-1] == '\\' && strings.IndexByte("nrt", s[from]) >= 0:
		from++
	case from > 0 && from+2 < to && s[from-1] == '%' && hexa[s[from]] && hexa[s[from+1]]:
		from += 2
	}
	return s[from:to]
}

// value returns where the value at i lies, without its quotes.
func value(s string, i int) (from, to int) {
	end := " \t\r\n\"'`&;,<>|)}]"
	if i < len(s) && s[i] == '\\' && i+1 < len(s) && s[i+1] == '"' {
		if n := strings.Index(s[i+2:], `\"`); n >= 0 {
			return i + 2, i + 2 + n
		}
		i += 2
	} else if i < len(s) && strings.IndexByte("\"'`", s[i]) >= 0 {
		end = s[i:i+1] + "\n"
		i++
	}
	to = i
	for to < len(s) && strings.IndexByte(end, s[to]) < 0 {
		if s[to] == '\\' {
			if to+1 < len(s) && strings.IndexByte("nrt", s[to+1]) >= 0 && len(end) > 2 {
				break
			}
			to++ // what is escaped belongs to it
		}
		to++
	}
	return i, min(to, len(s))
}

// header takes the value of a header up to its line's end or quote.
func (f *scanner) header(sep int, scheme bool) bool {
	from := sep + 1
	for from < len(f.s) && from < sep+8 && strings.IndexByte(" \t\"'\\[", f.s[from]) >= 0 {
		from++
	}
	if scheme {
		if word := run(f.s[:min(len(f.s), from+32)], from, &wordy); word < len(f.s) && f.s[word] == ' ' {
			from = word + 1
		}
	}
	if from >= len(f.s) || reference(f.s[from:from+1]) {
		return false
	}
	to := from
	for to < len(f.s) && strings.IndexByte("\r\n\"'`\\", f.s[to]) < 0 {
		to++
	}
	for to > from && strings.IndexByte(" \t]}", f.s[to-1]) >= 0 {
		to--
	}
	return f.worth(from, to, 4) && f.take(from, to)
}

// reference reports whether a value only names a secret, or stands for none.
func reference(v string) bool {
	switch v[0] {
	case '$', '<', '{', '*', '(', '[', '%', '@', '|', '?':
		return true
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "nil", "none", "yes", "no", "undefined", "string", "changed", "required", "optional", "xxx", "...", "\\", "''", `""`:
		return true
	}
	return strings.Trim(v, "*.x-") == ""
}

// plain reports whether v is a word, a path, a number or an identifier.
func plain(v string) bool {
	return !strings.ContainsAny(v, digits) || !strings.ContainsAny(v, upper+lower)
}

// dense reports whether v looks random: long, with letters and digits, and few
// that repeat.
func dense(v string) bool {
	if len(v) < 16 || plain(v) || strings.ContainsAny(v, " \t\n(){}$<>") || strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~") {
		return false
	}
	if strings.ContainsAny(v, "/.") && (!strings.ContainsAny(v, upper) || !strings.ContainsAny(v, lower)) {
		return false
	}
	return variety(v[:min(len(v), 64)]) >= 8
}

// variety is how many different bytes there are.
func variety(v string) (n int) {
	var seen set
	for _, c := range []byte(v) {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

package shell

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// raw splits a text that can't be parsed into pieces at everything that could
// end a command, and those into words, twice: once coarsely, so that of=/dev/sda
// stays a word, once also at signs, so that ["rm","-rf"] gives rm and -rf, and
// <&-rm gives rm. Each piece is marked as a wrapper, because nobody knows where
// its command starts.
func raw(src string) []Command {
	var out []Command
	for start, end := range pieces(src) {
		coarse := fields(src[start:end], "")
		fine := fields(strings.TrimLeft(src[start:end], "0123456789-"), ",=[]:")
		for _, words := range [][]string{coarse, fine} {
			if len(words) > 0 && (len(out) == 0 || !slices.Equal(out[len(out)-1].Words, words)) {
				out = append(out, Command{Words: words, Start: start, End: end, Wrapper: true, Guess: true})
			}
		}
	}
	return out
}

// pieces yields the spans between operators.
func pieces(src string) func(yield func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		start := 0
		for i := range len(src) {
			if strings.IndexByte(";&|\n(){}<>`", src[i]) < 0 {
				continue
			}
			if start < i && !yield(start, i) {
				return
			}
			start = i + 1
		}
		if start < len(src) {
			yield(start, len(src))
		}
	}
}

// fields splits at blanks, control characters and extra, and drops quoting.
func fields(s, extra string) []string {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(extra, r)
	})
	out := words[:0]
	for _, w := range words {
		if w = unquoter.Replace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

var unquoter = strings.NewReplacer(`\`, "", `"`, "", `'`, "")

// ambiguous reports whether the parser and bash are known to differ on src, or
// whether it holds characters that a shell or a reader may take for others.
func ambiguous(src string) bool {
	return oddCharacter(src) || oddContinuation(src) || oddDuplication(src)
}

func oddCharacter(src string) bool {
	if plainText(src) {
		return false
	}
	if !utf8.ValidString(src) {
		return true
	}
	return strings.ContainsFunc(src, func(r rune) bool {
		return r != '\n' && r != '\t' && !printable(r)
	})
}

// plainText reports whether all of src is printable ASCII, tabs and newlines.
func plainText(src string) bool {
	for i := range len(src) {
		if c := src[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// oddContinuation finds a backslash-newline inside a word, which the parser
// joins too early ("$\⏎(rm y)"), and one that ends a comment, where bash does
// not join at all.
func oddContinuation(src string) bool {
	if !strings.Contains(src, "\\\n") {
		return false
	}
	for line := range strings.Lines(src) {
		before, joined := strings.CutSuffix(line, "\\\n")
		if !joined {
			continue
		}
		if strings.Contains(before, "#") || before != "" && !strings.ContainsAny(before[len(before)-1:], " \t;&|()<>") {
			return true
		}
	}
	return false
}

// oddDuplication finds <&-rm, which bash reads as closing and then a word.
func oddDuplication(src string) bool {
	for i := 0; i+1 < len(src); i++ {
		if (src[i] != '<' && src[i] != '>') || src[i+1] != '&' {
			continue
		}
		rest := strings.TrimLeft(src[i+2:], "0123456789")
		rest = strings.TrimPrefix(rest, "-")
		if rest != "" && !strings.ContainsAny(rest[:1], " \t\n;&|()<>\"'`}") {
			return true
		}
	}
	return false
}

// printable reports whether r shows as itself: no control, format or private
// character, and no blank but the space.
func printable(r rune) bool {
	switch r {
	case '\u115F', '\u1160', '\u2800', '\u3164', '\uFFA0', '\uFFFC', utf8.RuneError:
		return false // letters and symbols that show as blanks, or as nothing
	}
	return unicode.IsPrint(r)
}

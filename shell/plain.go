package shell

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Plain returns the words of a text that is one simple command made of known
// words, with nothing else to it: bash and zsh, with their default options,
// can't but run exactly these. It takes two independent readings, the scanner
// below, which knows no syntax but quotes and blanks, and the parser, as bash
// and as zsh. Whatever one of them doubts is not plain.
func Plain(src string) (words []string, ok bool) {
	words, ok = Words(src)
	if !ok || !startsCommand(words[0]) || IsWrapper(words[0]) {
		return nil, false
	}
	if bare(src) {
		return words, true // nothing but blanks between words
	}
	for _, lang := range []syntax.LangVariant{syntax.LangBash, syntax.LangZsh} {
		if !oneCall(src, lang, words) {
			return nil, false
		}
	}
	return words, true
}

// bare reports whether a text has only characters that mean nothing to any
// shell, wherever they stand behind the first word.
func bare(src string) bool {
	for i := range len(src) {
		if c := src[i]; !alphanumeric(c) && strings.IndexByte(" _:,./-", c) < 0 {
			return false
		}
	}
	return true
}

// startsCommand excludes first words that a shell does not look up as a
// program: %1 resumes a job, - and + are modifiers of zsh, a=b assigns.
func startsCommand(word string) bool {
	if word == "" || strings.Contains(word, "=") || reserved()[word] {
		return false
	}
	c := word[0]
	return alphanumeric(c) || c == '_' || c == '.' || c == '/'
}

// reserved words of bash and zsh that the scanner would take for programs.
// Declarations and modifiers are in the table of wrappers.
var reserved = set(`
	if then elif else fi for while until do done case esac in select function
	time coproc repeat foreach end nocorrect noglob`)

func oneCall(src string, lang syntax.LangVariant, words []string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // the parser failed
		}
	}()
	f, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(src), "")
	if err != nil || len(f.Stmts) != 1 || len(f.Last) != 0 {
		return false
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) != 0 || len(call.Args) != len(words) || len(s.Redirs) != 0 || len(s.Comments) != 0 ||
		s.Negated || s.Background || s.Coprocess || s.Disown || s.Semicolon.IsValid() {
		return false
	}
	for i, arg := range call.Args {
		if w, known := literal(arg); !known || w != words[i] {
			return false
		}
	}
	return true
}

// Words splits a text that has no syntax but blanks and quotes: unquoted text
// of [A-Za-z0-9_@%+=:,./-], single-quoted text, double-quoted text without
// $ ` \ and !. No word starts with "=", which zsh expands. Anything else,
// an empty text or one beyond MaxPlain is not ok.
func Words(src string) (words []string, ok bool) {
	if len(src) > MaxPlain {
		return nil, false
	}
	s := scanner{rest: src}
	for {
		s.rest = strings.TrimLeft(s.rest, " ")
		if s.rest == "" {
			return words, len(words) > 0
		}
		word, ok := s.word()
		if !ok || strings.HasPrefix(word, "=") {
			return nil, false
		}
		words = append(words, word)
	}
}

type scanner struct{ rest string }

func (s *scanner) word() (string, bool) {
	var b strings.Builder
	for s.rest != "" && s.rest[0] != ' ' {
		switch c := s.rest[0]; {
		case c == '\'' || c == '"':
			text, ok := s.quoted(c)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		case alphanumeric(c) || strings.IndexByte("_@%+=:,./-", c) >= 0:
			b.WriteByte(c)
			s.rest = s.rest[1:]
		default:
			return "", false
		}
	}
	return b.String(), true
}

func (s *scanner) quoted(quote byte) (string, bool) {
	text, rest, closed := strings.Cut(s.rest[1:], string(quote))
	switch {
	case !closed || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !printable(r) }):
		return "", false
	case quote == '"' && strings.ContainsAny(text, "$`\\!"):
		return "", false
	case quote == '\'' && strings.HasPrefix(rest, "'"):
		return "", false // with RC_QUOTES, zsh reads '' inside quotes as one '
	}
	s.rest = rest
	return text, true
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker collects commands from a syntax tree.
type walker struct {
	src   string
	depth int
	left  *int // bytes that may still be read as scripts within this one
	found []Command
}

func (w *walker) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		w.call(n)
	case *syntax.DeclClause, *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.CoprocClause:
		w.special(n)
	}
	return true
}

func (w *walker) call(n *syntax.CallExpr) {
	for _, as := range n.Assigns {
		w.assignment(as)
	}
	if len(n.Args) == 0 {
		return
	}
	c := Command{Literal: true}
	c.Start, c.End = w.span(n)
	for i, arg := range n.Args {
		word, known := literal(arg)
		if !known {
			c.Literal = false
			word = w.text(arg)
		}
		if !known && (i == 0 || strings.ContainsRune(word, '{')) {
			w.rough(arg) // {rm,-rf,x} is three words
		}
		c.Wrapper = c.Wrapper || i == 0 && (!known || IsWrapper(word))
		c.Words = append(c.Words, word)
	}
	w.found = append(w.found, c)
	if c.Wrapper {
		w.arguments(c, n)
	}
}

// assignment looks for a script in a value: PAGER='rm x' git log.
func (w *walker) assignment(as *syntax.Assign) {
	if as.Value == nil {
		return
	}
	text, known := literal(as.Value)
	if !known {
		text = w.text(as.Value)
	}
	w.guess(text, as)
}

// arguments looks for scripts in the words of a wrapper: sh -c 'rm x'.
func (w *walker) arguments(c Command, n syntax.Node) {
	for _, word := range c.Words[1:] {
		w.guess(word, n)
	}
}

// guess reads text that may be run as a script.
func (w *walker) guess(text string, n syntax.Node) {
	if _, simple := Words(text); simple && !strings.Contains(text, " ") {
		return
	}
	if *w.left -= len(text) + guessCost; *w.left < 0 {
		return // analyse takes raw words of the whole instead
	}
	var inner Analysis
	if w.depth+1 < maxNested {
		inner = analyse(text, w.depth+1, w.left)
	} else {
		inner = Unreadable(text, "nested too deep")
	}
	w.add(inner.Commands, n)
}

func (w *walker) rough(n syntax.Node) { w.add(raw(w.text(n)), n) }

func (w *walker) add(cs []Command, n syntax.Node) {
	for _, c := range cs {
		c.Guess = true
		c.Start, c.End = w.span(n)
		w.found = append(w.found, c)
	}
}

// special takes what is no simple command to the parser but acts as one. Bash
// evaluates text inside of it that the tree shows as a quoted word:
// [[ -v 'a[$(rm x)]' ]]. And it reads "coproc rm > f" as running rm, which the
// parser takes for a name.
func (w *walker) special(n syntax.Node) {
	start, end := w.span(n)
	words := strings.Fields(w.src[start:end])
	w.found = append(w.found, Command{Words: words, Start: start, End: end, Wrapper: true})
	w.rough(n)
}

func (w *walker) text(n syntax.Node) string {
	start, end := w.span(n)
	return w.src[start:end]
}

func (w *walker) span(n syntax.Node) (start, end int) {
	start = min(int(n.Pos().Offset()), len(w.src))
	end = min(int(n.End().Offset()), len(w.src))
	return start, max(start, end)
}

// literal returns what the word is after quotes are removed, if nothing in it
// is expanded.
func literal(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range word.Parts {
		if !literalPart(&b, part, false) {
			return "", false
		}
	}
	return b.String(), true
}

func literalPart(b *strings.Builder, part syntax.WordPart, quoted bool) bool {
	switch p := part.(type) {
	case *syntax.Lit:
		if !quoted && strings.ContainsAny(p.Value, "*?[]{}~^#") {
			return false
		}
		unescape(b, p.Value, quoted)
		return true
	case *syntax.SglQuoted:
		b.WriteString(p.Value)
		return !p.Dollar
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			if !literalPart(b, inner, true) {
				return false
			}
		}
		return !p.Dollar
	default:
		return false
	}
}

// unescape removes backslashes as bash does, outside or inside double quotes.
func unescape(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || quoted && !strings.ContainsRune("$`\"\\\n", rune(s[i+1])) {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
}

package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// word appends what w expands to. Substitutions in it are read as they run.
func (r *reader) word(to []WordValue, w *syntax.Word, st *state) []WordValue {
	if w == nil {
		return to
	}
	s := r.spanOf(w)
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && !expands(lit.Value) {
			return append(to, WordValue{Kind: Const, Text: lit.Value, Start: s.start, End: s.end})
		}
	}
	if !mayHaveBraces(w) {
		return r.expansion(to, w, s, st)
	}
	return r.braces(to, w, s, st)
}

// braces appends what a word with braces expands to, if that is what they are.
func (r *reader) braces(to []WordValue, w *syntax.Word, s span, st *state) []WordValue {
	copied := *w // SplitBraces changes the word, and a loop reads it again
	if !syntax.SplitBraces(&copied) {
		return r.expansion(to, w, s, st)
	}
	if rejoins(copied.Parts) {
		r.add(Effect{Code: "BRACES", Start: s.start, End: s.end})
		return append(to, WordValue{Kind: Fields, Start: s.start, End: s.end})
	}
	if alternatives(&copied) > maxBraces {
		r.add(Effect{Code: "TOO_MANY_WORDS", Start: s.start, End: s.end})
		return append(to, WordValue{Kind: Fields, Start: s.start, End: s.end})
	}
	n := 0
	for each, err := range expand.BracesSeq(nil, &copied) {
		if n++; err != nil || n > maxBraces {
			r.add(Effect{Code: "TOO_MANY_WORDS", Start: s.start, End: s.end})
			return append(to, WordValue{Kind: Fields, Start: s.start, End: s.end})
		}
		to = r.expansion(to, each, s, st)
	}
	return to
}

// expands reports whether unquoted text may be more than itself.
func expands(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '\\', '~', '*', '?', '[', '{':
			return true
		}
	}
	return false
}

// rejoins reports whether braces put text behind a $ that it did not stand
// behind before: bash expands $x{a,b} to $xa and $xb, and {$,}x to $x. The same
// goes for a ~.
func rejoins(parts []syntax.WordPart) bool {
	for i, p := range parts {
		last := i == len(parts)-1
		_, brace := p.(*syntax.BraceExp)
		if !last {
			_, brace = parts[i+1].(*syntax.BraceExp)
		}
		switch p := p.(type) {
		case *syntax.ParamExp:
			if p.Short && (last || brace) {
				return true
			}
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "$`~") {
				return true
			}
		case *syntax.BraceExp:
			for _, e := range p.Elems {
				if rejoins(e.Parts) {
					return true
				}
			}
		}
	}
	return false
}

// alternatives counts the words that braces give, at least as far as maxBraces.
func alternatives(w *syntax.Word) int {
	n := 1
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok || b.Sequence {
			continue
		}
		sum := 0
		for _, e := range b.Elems {
			sum += alternatives(e)
		}
		if n *= max(1, sum); n > maxBraces {
			return n
		}
	}
	return n
}

func mayHaveBraces(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
			return true
		}
	}
	return false
}

// one returns the value of a word in a place where it is not split.
func (r *reader) one(w *syntax.Word, st *state) WordValue {
	if w == nil {
		return WordValue{Kind: Const}
	}
	s := r.spanOf(w)
	b := builder{r: r, st: st, whole: true}
	b.parts(w.Parts, false)
	b.cur.Start, b.cur.End = s.start, s.end
	if b.cur.Kind == Glob {
		b.cur.Kind = Const
	}
	return b.cur
}

func (r *reader) expansion(to []WordValue, w *syntax.Word, s span, st *state) []WordValue {
	b := builder{r: r, st: st, done: to}
	b.parts(w.Parts, false)
	if b.started {
		b.finish()
	}
	for i := len(to); i < len(b.done); i++ {
		b.done[i].Start, b.done[i].End = s.start, s.end
	}
	return b.done
}

// A builder puts the parts of a word together.
type builder struct {
	r       *reader
	st      *state
	done    []WordValue
	cur     WordValue
	started bool // there is a word, even if it is empty
	whole   bool // the word is not split
	several bool // the word has more than one part
	tail    bool // something follows a path that is not known
}

func (b *builder) finish() {
	if b.cur.Kind == Any && !b.started {
		return
	}
	b.done = append(b.done, b.cur)
	b.cur, b.started = WordValue{}, false
}

func (b *builder) parts(parts []syntax.WordPart, quoted bool) {
	b.several = b.several || len(parts) > 1
	for i, p := range parts {
		b.part(p, quoted, i == 0)
	}
}

func (b *builder) part(p syntax.WordPart, quoted, first bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		b.lit(p.Value, quoted, first)
	case *syntax.SglQuoted:
		if p.Dollar {
			b.text(unescapeC(p.Value))
		} else {
			b.text(p.Value)
		}
	case *syntax.DblQuoted:
		if b.nothing(p) {
			return
		}
		b.text("")
		b.parts(p.Parts, true)
		if p.Dollar {
			b.add(WordValue{}, true) // it may be translated
		}
	case *syntax.ParamExp:
		b.param(p, quoted)
	case *syntax.CmdSubst:
		b.add(b.r.substitution(p.Stmts, b.st), quoted)
	case *syntax.ArithmExp:
		b.r.arithm(p.X, b.st)
		b.add(WordValue{Kind: Integer}, quoted)
	case *syntax.ProcSubst:
		b.r.process(p, b.st)
		b.text("/dev/fd/63")
	case *syntax.ExtGlob:
		// In zsh this is a list of qualifiers, and some of them run code.
		b.r.unknown("SHELLS_DIFFER", p.Op.String()+p.Pattern.Value+")")
		b.glob(p.Op.String() + p.Pattern.Value + ")")
	default:
		b.r.unknown("SYNTAX", "an expansion that is not known")
		b.add(WordValue{}, quoted)
	}
}

// lit adds unquoted text, or text between double quotes.
func (b *builder) lit(s string, quoted, first bool) {
	if s == "" && !quoted {
		return // {,}
	}
	if !quoted && (strings.Contains(s, "<(") || strings.Contains(s, ">(")) {
		b.r.unreadable("SYNTAX", "a process in a parameter, which the parser takes for text")
	}
	if !quoted && first && strings.HasPrefix(s, "~") {
		user, _, slash := strings.Cut(s, "/")
		switch {
		case user == "~" && (slash || !b.several) && b.r.env.Home != "" && !b.assigned("HOME"):
			b.cur.home = true
			b.text(b.r.env.Home)
			b.lit(s[1:], false, false)
			return
		case user != "~" || slash || !b.several: // ~root, ~+; ~"x" is no home
			b.text("~")
			b.cur.home = true
			b.open(WordValue{}, true)
			return
		}
	}
	if !quoted && (strings.Contains(s, "=~") || strings.Contains(s, ":~")) {
		b.text("") // what looks like an assignment is expanded, too
		b.open(WordValue{}, true)
		return
	}
	var out strings.Builder
	unescape(&out, s, quoted)
	b.text(out.String())
	if !quoted {
		b.markGlob(s)
	}
}

func (b *builder) assigned(name string) bool {
	_, ok := b.st.vars[name]
	return ok
}

// markGlob makes the word a pattern if s has an unescaped *, ? or [.
func (b *builder) markGlob(s string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?':
			b.glob("")
			return
		case '[':
			if b.several || strings.Contains(s[i:], "]") {
				b.glob("")
				return
			}
		}
	}
}

func (b *builder) glob(s string) {
	b.text(s)
	if b.cur.Kind == Const {
		b.cur.Kind = Glob
	}
}

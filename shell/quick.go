package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A quick parser reads the lines that agents write most: plain and quoted words,
// pipes, lists, output that is joined or thrown away. It builds the very tree
// that the parser does, in memory that is used again, and leaves everything else
// to the parser. Tests hold the two against each other.
type quick struct {
	src string
	at  int
	top []*syntax.Stmt

	stmts  pile[syntax.Stmt]
	calls  pile[syntax.CallExpr]
	binary pile[syntax.BinaryCmd]
	redirs pile[syntax.Redirect]
	words  pile[syntax.Word]
	lits   pile[syntax.Lit]
	single pile[syntax.SglQuoted]
	double pile[syntax.DblQuoted]

	wordLists  []*syntax.Word
	partLists  []syntax.WordPart
	innerLists []syntax.WordPart // of lists of one
	redirLists []*syntax.Redirect
}

// A pile gives out values one by one, from memory that does not move.
type pile[T any] struct {
	all  [24]T
	used int
}

func (p *pile[T]) take() *T {
	if p.used == len(p.all) {
		return nil
	}
	p.used++
	return &p.all[p.used-1]
}

func (p *pile[T]) reset() {
	clear(p.all[:p.used])
	p.used = 0
}

// maxQuick is the longest line that is read quickly.
const maxQuick = 1 << 10

// read returns the statements of src, or that it is more than it knows.
func (q *quick) read(src string) ([]*syntax.Stmt, bool) {
	if len(src) > maxQuick {
		return nil, false
	}
	q.src, q.at = src, 0
	q.skip()
	for q.at < len(src) {
		s := q.list()
		if s == nil {
			return nil, false
		}
		q.top = append(q.top, s)
		if q.at == len(src) {
			break
		}
		if src[q.at] != ';' || q.at+1 < len(src) && src[q.at+1] == ';' {
			return nil, false
		}
		s.Semicolon = q.pos(q.at)
		q.at++
		q.skip()
	}
	return q.top, len(q.top) > 0
}

// reset forgets the tree.
func (q *quick) reset() {
	q.stmts.reset()
	q.calls.reset()
	q.binary.reset()
	q.redirs.reset()
	q.words.reset()
	q.lits.reset()
	q.single.reset()
	q.double.reset()
	clear(q.top)
	clear(q.wordLists)
	clear(q.partLists)
	clear(q.innerLists)
	clear(q.redirLists)
	q.src, q.top, q.wordLists, q.partLists = "", q.top[:0], q.wordLists[:0], q.partLists[:0]
	q.innerLists, q.redirLists = q.innerLists[:0], q.redirLists[:0]
}

func (q *quick) pos(at int) syntax.Pos { return syntax.NewPos(uint(at), 1, uint(at)+1) }

func (q *quick) skip() {
	for q.at < len(q.src) && q.src[q.at] == ' ' {
		q.at++
	}
}

// next reports whether an operator comes, and steps over it.
func (q *quick) next(op string) bool {
	if !strings.HasPrefix(q.src[q.at:], op) {
		return false
	}
	q.at += len(op)
	return true
}

// list reads a && b || c.
func (q *quick) list() *syntax.Stmt {
	s := q.pipe()
	for s != nil && q.at < len(q.src) {
		op, at := syntax.AndStmt, q.at
		if !q.next("&&") {
			if op = syntax.OrStmt; !q.next("||") {
				break
			}
		}
		s = q.join(s, op, at, q.pipe())
	}
	return s
}

// pipe reads a | b | c.
func (q *quick) pipe() *syntax.Stmt {
	s := q.stmt()
	for s != nil && q.at < len(q.src) && q.src[q.at] == '|' && !strings.HasPrefix(q.src[q.at:], "||") {
		at := q.at
		q.at++
		s = q.join(s, syntax.Pipe, at, q.stmt())
	}
	return s
}

func (q *quick) join(x *syntax.Stmt, op syntax.BinCmdOperator, at int, y *syntax.Stmt) *syntax.Stmt {
	b, s := q.binary.take(), q.stmts.take()
	if b == nil || s == nil || y == nil {
		return nil
	}
	b.OpPos, b.Op, b.X, b.Y = q.pos(at), op, x, y
	s.Position, s.Cmd = x.Position, b
	return s
}

// stmt reads a simple command up to an operator.
func (q *quick) stmt() *syntax.Stmt {
	q.skip()
	s, c := q.stmts.take(), q.calls.take()
	if s == nil || c == nil {
		return nil
	}
	s.Position, s.Cmd = q.pos(q.at), c
	firstWord, firstRedir := len(q.wordLists), len(q.redirLists)
	for {
		q.skip()
		if q.at == len(q.src) || q.src[q.at] == '|' || q.src[q.at] == ';' || strings.HasPrefix(q.src[q.at:], "&&") {
			break
		}
		if r, is := q.redirect(); is {
			if r == nil || len(q.wordLists) == firstWord {
				return nil
			}
			q.redirLists = append(q.redirLists, r)
			continue
		}
		w := q.word()
		if w == nil || len(q.wordLists) == firstWord && !plainProgram(w) {
			return nil
		}
		q.wordLists = append(q.wordLists, w)
	}
	if len(q.wordLists) == firstWord {
		return nil
	}
	c.Args = q.wordLists[firstWord:len(q.wordLists):len(q.wordLists)]
	if len(q.redirLists) > firstRedir {
		s.Redirs = q.redirLists[firstRedir:len(q.redirLists):len(q.redirLists)]
	}
	return s
}

// plainProgram reports whether a first word is neither an assignment nor one
// that means something to the shell's grammar.
func plainProgram(w *syntax.Word) bool {
	lit, ok := w.Parts[0].(*syntax.Lit)
	return ok && len(w.Parts) == 1 && startsCommand(lit.Value) && !grammarWords()[lit.Value]
}

// grammarWords begin something that is no simple command to the parser.
var grammarWords = set(`declare local export readonly typeset nameref let eval test`)

// redirect reads 2>&1, >/dev/null and their like.
func (q *quick) redirect() (r *syntax.Redirect, is bool) {
	start := q.at
	digit := q.src[q.at] == '1' || q.src[q.at] == '2'
	if digit && q.at+1 < len(q.src) && q.src[q.at+1] == '>' {
		q.at++
	} else if digit || q.src[q.at] != '>' {
		return nil, false
	}
	if r = q.redirs.take(); r == nil {
		return nil, true
	}
	if q.at > start {
		if r.N = q.literal(start, q.at); r.N == nil {
			return nil, true
		}
	}
	r.OpPos, r.Op = q.pos(q.at), syntax.RdrOut
	q.at++
	from := q.at
	switch {
	case q.next("&1"), q.next("&2"):
		r.Op, from = syntax.DplOut, from+1
	case q.next("/dev/null"), q.next(" /dev/null"):
		from = q.at - len("/dev/null")
	default:
		return nil, true
	}
	if q.at < len(q.src) && strings.IndexByte(" ;|", q.src[q.at]) < 0 {
		return nil, true
	}
	r.Word = q.words.take()
	lit := q.literal(from, q.at)
	if r.Word == nil || lit == nil {
		return nil, true
	}
	r.Word.Parts = q.one(lit)
	return r, true
}

func (q *quick) one(p syntax.WordPart) []syntax.WordPart {
	n := len(q.innerLists)
	q.innerLists = append(q.innerLists, p)
	return q.innerLists[n : n+1 : n+1]
}

func (q *quick) literal(from, to int) *syntax.Lit {
	lit := q.lits.take()
	if lit != nil {
		lit.ValuePos, lit.ValueEnd, lit.Value = q.pos(from), q.pos(to), q.src[from:to]
	}
	return lit
}

// word reads plain and quoted text up to a blank or an operator.
func (q *quick) word() *syntax.Word {
	w, first := q.words.take(), len(q.partLists)
	if w == nil {
		return nil
	}
	for q.at < len(q.src) && strings.IndexByte(" ;|&", q.src[q.at]) < 0 {
		p := q.part()
		if p == nil {
			return nil
		}
		q.partLists = append(q.partLists, p)
	}
	if len(q.partLists) == first {
		return nil // a lone &
	}
	w.Parts = q.partLists[first:len(q.partLists):len(q.partLists)]
	return w
}

func (q *quick) part() syntax.WordPart {
	from := q.at
	switch c := q.src[q.at]; c {
	case '\'', '"':
		n := strings.IndexByte(q.src[from+1:], c)
		if n < 0 {
			return nil
		}
		q.at += n + 2
		return q.quoted(from, from+1+n)
	}
	for q.at < len(q.src) && plainByte[q.src[q.at]] {
		q.at++
	}
	if q.at == from {
		return nil
	}
	if lit := q.literal(from, q.at); lit != nil {
		return lit
	}
	return nil
}

func (q *quick) quoted(from, to int) syntax.WordPart {
	text := q.src[from+1 : to]
	if !plainText(text) || strings.IndexByte(text, '\n') >= 0 {
		return nil
	}
	if q.src[from] == '\'' {
		s := q.single.take()
		if s == nil {
			return nil
		}
		s.Left, s.Right, s.Value = q.pos(from), q.pos(to), text
		return s
	}
	d := q.double.take()
	if d == nil || strings.ContainsAny(text, "$`\\!") {
		return nil
	}
	d.Left, d.Right = q.pos(from), q.pos(to)
	if text != "" {
		lit := q.literal(from+1, to)
		if lit == nil {
			return nil
		}
		d.Parts = q.one(lit)
	}
	return d
}

// plainByte are characters that mean nothing to the shell's grammar.
var plainByte = func() (is [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-*?~") {
		is[c] = true
	}
	return is
}()

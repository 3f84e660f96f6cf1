package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects judges redirections, and leaves in r.stdin what is known to come in.
func (r *reader) redirects(list []*syntax.Redirect, st *state, c *Simple) {
	for _, rd := range list {
		s := r.spanOf(rd)
		if rd.N != nil && strings.HasPrefix(rd.N.Value, "{") {
			name := strings.Trim(rd.N.Value, "{}")
			r.assigned(name, WordValue{Kind: Integer})
			st.set(name, WordValue{Kind: Integer})
		}
		at := r.at
		target := r.target(rd, st)
		r.at = at
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := r.document(rd.Hdoc, st)
			if rd.Hdoc != nil && strings.Contains(r.text(rd.Hdoc), "\\") {
				body.Kind = Any // backslashes mean less here
			}
			r.at = at
			r.stdin = &body
			c.redirect(rd, target, s)
			continue
		case syntax.WordHdoc:
			r.stdin = &target
			c.redirect(rd, target, s)
			continue
		case syntax.DplIn, syntax.DplOut:
			if descriptor(target) || rd.Op == syntax.DplIn {
				if !descriptor(target) {
					r.blame(Unknown, "REDIRECT", target)
				}
				if rd.Op == syntax.DplIn && (rd.N == nil || rd.N.Value == "0") {
					r.stdin = &WordValue{}
				}
				continue
			}
			r.redirect(Writes, target, s, st)
		case syntax.RdrIn:
			r.redirect(Reads, target, s, st)
			if rd.N == nil || rd.N.Value == "0" {
				r.stdin = &WordValue{}
			}
		case syntax.RdrInOut:
			r.redirect(Reads, target, s, st)
			r.redirect(Writes, target, s, st)
		default:
			r.redirect(Writes, target, s, st)
		}
		c.redirect(rd, target, s)
	}
}

// diverts reports whether a redirection takes standard output elsewhere.
func diverts(rd *syntax.Redirect) bool {
	switch rd.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn, syntax.RdrInOut:
		return rd.N != nil && rd.N.Value == "1"
	default:
		return rd.N == nil || rd.N.Value == "1"
	}
}

func (c *Simple) redirect(rd *syntax.Redirect, target WordValue, s span) {
	if c != nil {
		c.Redirects = append(c.Redirects, Redirect{Op: rd.Op.String(), Target: target, Start: s.start, End: s.end})
	}
}

// target returns the one word that a redirection names.
func (r *reader) target(rd *syntax.Redirect, st *state) WordValue {
	if rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc {
		return WordValue{Kind: Const}
	}
	if rd.Op == syntax.WordHdoc {
		return r.one(rd.Word, st)
	}
	words := r.word(nil, rd.Word, st)
	if len(words) != 1 {
		return WordValue{}
	}
	return words[0]
}

// descriptor reports whether the target of >& is a number, or - to close.
func descriptor(w WordValue) bool {
	if w.Kind == Integer {
		return true
	}
	text := strings.TrimSuffix(w.Text, "-")
	return w.Known() && w.Text != "" && (text == "" || isInteger(text))
}

func (r *reader) redirect(a Action, target WordValue, s span, st *state) {
	target.Start, target.End = s.start, s.end
	code := "WRITE_REDIRECT"
	if a == Reads {
		code = "READ_REDIRECT"
	}
	r.fileAs(a, target, st, code)
}

// document returns the text of a here-document, which is expanded like text in
// double quotes.
func (r *reader) document(w *syntax.Word, st *state) WordValue {
	if w == nil {
		return WordValue{Kind: Const}
	}
	b := builder{r: r, st: st, whole: true}
	b.parts(w.Parts, true)
	s := r.spanOf(w)
	b.cur.Start, b.cur.End = s.start, s.end
	return b.cur
}

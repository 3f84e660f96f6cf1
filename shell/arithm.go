package shell

import "mvdan.cc/sh/v3/syntax"

// arithm reads an arithmetic expression. Bash evaluates the values of variables
// in it again, and runs substitutions that it finds in their subscripts: only
// numbers are harmless.
func (r *reader) arithm(x syntax.ArithmExpr, st *state) {
	switch x := x.(type) {
	case nil:
	case *syntax.ParenArithm:
		r.arithm(x.X, st)
	case *syntax.UnaryArithm:
		r.arithm(x.X, st)
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			r.count(x.X, st)
		}
	case *syntax.BinaryArithm:
		if !assignment(x.Op) || x.Op != syntax.Assgn {
			r.arithm(x.X, st)
		}
		r.arithm(x.Y, st)
		if assignment(x.Op) {
			r.count(x.X, st)
		}
	case *syntax.Word:
		r.operand(x, st)
	default:
		r.unknown("ARITHMETIC", "an expression that is not known")
	}
}

func assignment(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	default:
		return false
	}
}

// count assigns a number.
func (r *reader) count(x syntax.ArithmExpr, st *state) {
	w, ok := x.(*syntax.Word)
	if !ok || !syntax.ValidName(w.Lit()) {
		r.unknown("ARITHMETIC", "assigns to what is not a name")
		return
	}
	r.assigned(w.Lit(), WordValue{Kind: Integer})
	st.set(w.Lit(), WordValue{Kind: Integer})
}

func (r *reader) operand(w *syntax.Word, st *state) {
	if name := w.Lit(); name != "" {
		if !syntax.ValidName(name) {
			r.number(WordValue{Kind: Const, Text: name}, w)
			return
		}
		b := builder{r: r, st: st}
		r.number(b.value(name), w)
		return
	}
	r.number(r.one(w, st), w)
}

// number asks unless v is one.
func (r *reader) number(v WordValue, n syntax.Node) {
	switch {
	case v.Kind == Integer:
		return
	case len(choices(v)) > 0:
		for _, c := range choices(v) {
			if !plainNumber(c) {
				r.blame(Unknown, "ARITHMETIC", v)
				return
			}
		}
		return
	}
	s := r.spanOf(n)
	r.add(Effect{Code: "ARITHMETIC", Detail: r.text(n), Start: s.start, End: s.end})
}

// plainNumber takes 12, 0x1f and 16#ff, and nothing that names a variable.
func plainNumber(s string) bool {
	if isInteger(s) || s == "" {
		return true
	}
	if s[0] < '0' || s[0] > '9' {
		return false
	}
	for _, c := range []byte(s) {
		if !alphanumeric(c) && c != '#' {
			return false
		}
	}
	return true
}

// testExpr reads what stands between [[ and ]].
func (r *reader) testExpr(x syntax.TestExpr, st *state) {
	switch x := x.(type) {
	case *syntax.ParenTest:
		r.testExpr(x.X, st)
	case *syntax.UnaryTest:
		if w, ok := x.X.(*syntax.Word); ok {
			v := r.one(w, st)
			if (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) && (!v.Known() || !syntax.ValidName(v.Text)) {
				r.blame(Unknown, "EVALUATES_NAME", v)
			}
			return
		}
		r.testExpr(x.X, st)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if w, ok := side.(*syntax.Word); ok {
					r.operand(w, st)
				}
			}
			return
		default:
		}
		r.testExpr(x.X, st)
		r.testExpr(x.Y, st)
	case *syntax.Word:
		r.one(x, st)
	default:
		r.unknown("SYNTAX", "a test that is not known")
	}
}

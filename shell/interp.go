package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// stmts reads a list, and returns the output if it is that of one command.
func (r *reader) stmts(list []*syntax.Stmt, st *state) WordValue {
	var out WordValue
	for _, s := range list {
		out = r.stmt(s, st)
	}
	if len(list) != 1 {
		return WordValue{}
	}
	return out
}

// stmt reads a statement, and returns its output unless that goes elsewhere.
func (r *reader) stmt(s *syntax.Stmt, st *state) WordValue {
	out := r.statement(s, st)
	if slices.ContainsFunc(s.Redirs, diverts) {
		return WordValue{}
	}
	return out
}

func (r *reader) statement(s *syntax.Stmt, st *state) WordValue {
	if s.Background || s.Coprocess || s.Disown {
		st = st.clone()
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		return r.call(call, s.Redirs, st)
	}
	before := r.stdin
	defer func() { r.stdin = before }()
	r.redirects(s.Redirs, st, nil)
	return r.compound(s.Cmd, st)
}

// compound reads everything that is no simple command.
func (r *reader) compound(cmd syntax.Command, st *state) WordValue {
	switch c := cmd.(type) {
	case nil:
	case *syntax.Block:
		return r.stmts(c.Stmts, st)
	case *syntax.Subshell:
		return r.stmts(c.Stmts, st.clone())
	case *syntax.BinaryCmd:
		return r.binary(c, st)
	case *syntax.IfClause:
		r.ifClause(c, st)
	case *syntax.WhileClause:
		r.loop(st, c.Cond, c.Do)
	case *syntax.ForClause:
		r.forClause(c, st)
	case *syntax.CaseClause:
		r.caseClause(c, st)
	case *syntax.FuncDecl:
		if c.Name == nil {
			r.unknown("SYNTAX", "a function without a name")
			return WordValue{}
		}
		switch c.Body.Cmd.(type) {
		case *syntax.BinaryCmd, *syntax.CallExpr, nil: // f() { …; } | g is a pipe to bash
			r.unreadable("SHELLS_DIFFER", "where a function ends")
		}
		in := *r
		f := &function{body: c.Body, in: &in, dir: st.dir}
		r.funcs = append(r.funcs, f)
		st.define(c.Name.Value, f)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(c.Stmt, st)
		}
	case *syntax.ArithmCmd:
		r.special(c, "((", func() { r.arithm(c.X, st) })
	case *syntax.LetClause:
		r.special(c, "let", func() {
			for _, x := range c.Exprs {
				r.arithm(x, st)
			}
		})
	case *syntax.TestClause:
		r.special(c, "[[", func() { r.testExpr(c.X, st) })
	case *syntax.DeclClause:
		r.declare(c, st)
	case *syntax.CoprocClause:
		// Bash takes "coproc rm > f" for running rm, the parser for a name.
		r.special(c, "coproc", func() { r.unknown("COPROC", "") })
		r.facts.Guesses = append(r.facts.Guesses, raw(r.text(c))...)
		r.stmt(c.Stmt, st.clone())
	default:
		r.unknown("SYNTAX", "a construct that is not known")
	}
	return WordValue{}
}

// special records what is no simple command to the parser but acts as one.
func (r *reader) special(n syntax.Node, name string, judge func()) {
	at, s := r.at, r.spanOf(n)
	r.begin(Simple{Words: []WordValue{{Kind: Const, Text: name, Start: s.start, End: s.end}}, Start: s.start, End: s.end})
	judge()
	r.at = at
}

// begin makes c the command that is being judged, if there may be more.
func (r *reader) begin(c Simple) bool {
	c.Via = r.via
	r.facts.Commands = append(r.facts.Commands, c)
	r.at = len(r.facts.Commands) - 1
	if r.budget--; r.budget < 0 {
		if r.budget == -1 {
			r.unreadable("TOO_MANY", "commands")
		}
		return false
	}
	return true
}

func (r *reader) text(n syntax.Node) string {
	start := min(int(n.Pos().Offset()), len(r.src))
	return r.src[start:max(start, min(int(n.End().Offset()), len(r.src)))]
}

// chain reads a && b && c: what follows runs only if all before it did. It
// returns the states in which something was left out.
func (r *reader) chain(c *syntax.BinaryCmd, st *state) (skipped []*state) {
	if left, ok := c.X.Cmd.(*syntax.BinaryCmd); ok && left.Op == syntax.AndStmt && !c.X.Negated && len(c.X.Redirs) == 0 {
		skipped = r.chain(left, st)
	} else {
		r.stmt(c.X, st)
	}
	skipped = append(skipped, st.clone())
	if !c.X.Negated && calls(c.X, "cd") {
		st.stay = ""
	}
	r.stmt(c.Y, st)
	return skipped
}

func (r *reader) binary(c *syntax.BinaryCmd, st *state) WordValue {
	switch c.Op {
	case syntax.AndStmt:
		for _, skipped := range r.chain(c, st) {
			st.join(skipped)
		}
		return WordValue{}
	case syntax.OrStmt:
		r.stmt(c.X, st)
		skipped := st.clone()
		r.stmt(c.Y, st)
		if !c.X.Negated && calls(c.X, "cd") && (calls(c.Y, "exit") || calls(c.Y, "return")) {
			st.stay, skipped.stay = "", ""
		}
		st.join(skipped)
		return WordValue{}
	default:
		out := r.stmt(c.X, st.clone())
		before := r.stdin
		r.stdin = &out
		result := r.stmt(c.Y, st.clone())
		r.stdin = before
		return result
	}
}

// calls reports whether a statement is a call of that name, or a list of && that
// ends with one.
func calls(s *syntax.Stmt, name string) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && c.Args[0].Lit() == name
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && calls(c.Y, name)
	default:
		return false
	}
}

func (r *reader) ifClause(c *syntax.IfClause, st *state) {
	r.stmts(c.Cond, st)
	other := st.clone()
	r.stmts(c.Then, st)
	if c.Else != nil {
		r.ifClause(c.Else, other)
	}
	st.join(other)
}

// uncalled reads functions that the script defines and does not call: the
// shell may live on.
func (r *reader) uncalled() {
	for i := 0; i < len(r.funcs); i++ { // reading one may define more
		f := r.funcs[i]
		if f.called {
			continue
		}
		f.called = true
		in := *f.in
		in.at, in.stdin = -1, nil
		st := newState(r.env)
		st.dir = f.dir
		in.stmt(f.body, st)
	}
}

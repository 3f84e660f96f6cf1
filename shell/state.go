package shell

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A state is what the shell knows at one point of the script.
type state struct {
	dir   string // absolute, or "" if it is not known
	stay  string // where it still is if cd failed, "" if that can't be
	vars  map[string]WordValue
	funcs map[string]*function
	args  []WordValue // positional parameters; one Fields if they are not known
	// locals holds what variables of the function were outside of it; it is nil
	// outside of functions.
	locals map[string]*WordValue
	// linked says that the script made a link: paths may lead elsewhere now.
	linked bool
}

type function struct {
	body   *syntax.Stmt
	in     *reader
	dir    string // where it was defined
	called bool
}

func newState(env Env) *state {
	return &state{dir: env.Dir, args: []WordValue{{Kind: Fields}}}
}

// clone returns the state of a subshell, or of a branch.
func (s *state) clone() *state {
	c := *s
	c.vars, c.funcs, c.locals = maps.Clone(s.vars), maps.Clone(s.funcs), maps.Clone(s.locals)
	return &c
}

func (s *state) set(name string, v WordValue) {
	if s.vars == nil {
		s.vars = map[string]WordValue{}
	}
	s.vars[name] = v
}

// unsure forgets variables that stand in front of a function or eval: inside
// they are other than outside.
func (s *state) unsure(list []variable) {
	for _, v := range list {
		s.set(v.name, WordValue{})
	}
}

// local remembers a variable that ends with the function.
func (s *state) local(name string) {
	if _, done := s.locals[name]; done || s.locals == nil {
		return
	}
	s.locals[name] = nil
	if v, had := s.vars[name]; had {
		s.locals[name] = &v
	}
}

// declareLocal makes names that get no value local to the function, and empty
// unless they are local already.
func (s *state) declareLocal(words []WordValue) {
	for _, w := range words {
		if _, done := s.locals[w.Text]; !done && s.locals != nil && w.Kind == Const && validName(w.Text) {
			s.local(w.Text)
			s.set(w.Text, WordValue{Kind: Const})
		}
	}
}

// leave gives variables back what they were outside of the function.
func (s *state) leave() {
	for name, v := range s.locals {
		if v != nil {
			s.vars[name] = *v
		} else {
			delete(s.vars, name)
		}
	}
}

func (s *state) define(name string, f *function) {
	if s.funcs == nil {
		s.funcs = map[string]*function{}
	}
	s.funcs[name] = f
}

// join makes s what it is if either s or other came to be.
func (s *state) join(other *state) {
	if s.stay == "" {
		s.stay = other.stay
	}
	if s.dir != other.dir || other.stay != "" && other.stay != s.stay {
		s.dir = ""
	}
	s.linked = s.linked || other.linked
	for name, v := range other.vars {
		have, both := s.vars[name]
		if !both || !same(have, v) {
			s.set(name, either(have, v, both))
		}
	}
	for name, v := range s.vars {
		if _, both := other.vars[name]; !both {
			s.vars[name] = either(v, WordValue{}, false)
		}
	}
	for name, f := range other.funcs {
		if s.funcs[name] != f {
			// Which of them is called is not known: calling it is.
			s.define(name, &function{called: true})
		}
	}
	for name, f := range s.funcs {
		if other.funcs[name] != f {
			s.funcs[name] = &function{called: true}
		}
	}
}

func same(a, b WordValue) bool {
	return a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.Alts, b.Alts)
}

func either(a, b WordValue, both bool) WordValue {
	if !both {
		return WordValue{}
	}
	alts := slices.Concat(choices(a), choices(b))
	if len(choices(a)) == 0 || len(choices(b)) == 0 || len(alts) > maxAlts {
		if a.Kind == Integer && b.Kind == Integer {
			return WordValue{Kind: Integer}
		}
		return WordValue{}
	}
	return WordValue{Kind: OneOf, Text: alts[0], Alts: alts}
}

// choices returns all that a word can be, none if that is not known.
func choices(w WordValue) []string {
	switch w.Kind {
	case Const:
		return []string{w.Text}
	case OneOf:
		return w.Alts
	default:
		return nil
	}
}

// forget makes unknown what a loop may change before its body is read: all
// that it assigns, and the rest too if it uses what assigns by name.
func (s *state) forget(body ...syntax.Node) {
	vars, dir := false, false
	for _, n := range body {
		syntax.Walk(n, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
				return false // what they set ends with them
			case *syntax.Assign:
				s.set(n.Name.Value, loopValue(s, n))
			case *syntax.WordIter:
				s.set(n.Name.Value, WordValue{})
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					v, d := changes(n.Args[0])
					vars, dir = vars || v, dir || d
				}
			case *syntax.LetClause, *syntax.DeclClause:
				vars = true
			case *syntax.FuncDecl:
				vars, dir = true, true
			case *syntax.UnaryArithm, *syntax.BinaryArithm:
				forgetNumbers(s, n)
			}
			return true
		})
	}
	if dir {
		s.dir = ""
	}
	if vars {
		for name := range s.vars {
			s.vars[name] = WordValue{}
		}
	}
}

// loopValue is what an assignment in a loop leaves: a number stays one.
func loopValue(s *state, n *syntax.Assign) WordValue {
	before, had := s.vars[n.Name.Value]
	number := before.Kind == Integer || before.Kind == Const && isInteger(before.Text)
	if had && number && n.Value != nil && len(n.Value.Parts) == 1 {
		if _, ok := n.Value.Parts[0].(*syntax.ArithmExp); ok {
			return WordValue{Kind: Integer}
		}
	}
	return WordValue{}
}

// forgetNumbers finds i++ and i=…: the result is a number if nothing is run.
func forgetNumbers(s *state, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			name := w.Lit()
			if v, had := s.vars[name]; had && (v.Kind == Const && isInteger(v.Text)) {
				s.vars[name] = WordValue{Kind: Integer}
			}
		}
		return true
	})
}

// changes reports whether a command may change variables, or the working
// directory. Programs change neither; what is no program may be a function.
func changes(w *syntax.Word) (vars, dir bool) {
	name := w.Lit()
	b := findSpec(name)
	switch {
	case b == nil, name == "eval", name == "source", name == ".", name == "builtin", name == "command":
		return true, true
	case !b.is(assigns):
		return false, false
	}
	return true, name == "cd" || name == "pushd" || name == "popd"
}

func isInteger(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	return s != "" && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < '0' || c > '9' })
}

package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A variable is NAME=value in front of a command.
type variable struct {
	name  string
	value WordValue
}

// call reads a simple command and returns its output.
func (r *reader) call(n *syntax.CallExpr, redirs []*syntax.Redirect, st *state) WordValue {
	at, stdin := r.at, r.stdin
	defer func() { r.at, r.stdin = at, stdin }()
	s := r.spanOf(n)
	if !r.begin(Simple{Dir: st.dir, Start: s.start, End: s.end}) {
		return WordValue{}
	}
	index := r.at
	words := r.room(len(n.Args))
	for _, a := range n.Args {
		words = r.word(words, a, st)
	}
	r.at = index
	r.facts.Commands[index].Words = words
	before := r.assigns(n.Assigns, st, len(n.Args) == 0)
	r.at = index
	r.redirects(redirs, st, &r.facts.Commands[index])
	if len(n.Args) == 0 {
		return WordValue{Kind: Const}
	}
	return r.choose(words, before, st)
}

// choose judges the command for each of the words that it may consist of.
func (r *reader) choose(words []WordValue, before []variable, st *state) WordValue {
	for i, w := range words {
		if w.Kind != OneOf {
			continue
		}
		if len(w.Alts)*countAlts(words[i+1:]) > maxAlts {
			r.blame(Unknown, "TOO_MANY_VALUES", w)
			return WordValue{}
		}
		result := st.clone()
		for n, alt := range w.Alts {
			one := slices.Clone(words)
			one[i].Kind, one[i].Text, one[i].Alts = Const, alt, nil
			branch := st.clone()
			r.choose(one, before, branch)
			if n == 0 {
				result = branch
			} else {
				result.join(branch)
			}
		}
		*st = *result
		return WordValue{}
	}
	return r.judge(words, before, st, false)
}

func countAlts(words []WordValue) int {
	n := 1
	for _, w := range words {
		if w.Kind == OneOf && n <= maxAlts {
			n *= len(w.Alts)
		}
	}
	return n
}

// simple judges words that a program runs.
func (r *reader) simple(words []WordValue, before []variable, st *state) WordValue {
	if len(words) == 0 {
		return WordValue{}
	}
	at := r.at
	defer func() { r.at = at }()
	s := cover(words)
	if !r.begin(Simple{Words: words, Dir: st.dir, Start: s.start, End: s.end}) {
		return WordValue{}
	}
	return r.judge(words, before, st, true)
}

// cover returns the part of the source that the words stand in. Words that come
// from elsewhere have no place.
func cover(words []WordValue) span {
	s := span{words[0].Start, words[0].End}
	for _, w := range words[1:] {
		if w.End > 0 {
			s = span{min(s.start, w.Start), max(s.end, w.End)}
		}
	}
	return s
}

// judge says what one command does. Programs never run functions.
func (r *reader) judge(words []WordValue, before []variable, st *state, program bool) WordValue {
	if len(words) == 0 {
		return WordValue{Kind: Const} // $empty
	}
	w := words[0]
	if w.Kind != Const {
		r.blame(Executes, "UNKNOWN_PROGRAM", w)
		return WordValue{}
	}
	if f, ok := st.funcs[w.Text]; ok && !program {
		r.environment(before, nil)
		st.unsure(before)
		return r.function(f, words[1:], st)
	}
	name, ok := r.program(w)
	if !ok {
		return WordValue{}
	}
	s := findSpec(name)
	if s == nil {
		r.add(Effect{Code: "UNKNOWN_PROGRAM", Detail: name, Start: w.Start, End: w.End})
		r.environment(before, nil)
		return WordValue{}
	}
	r.environment(before, s)
	if s.grammar == "eval" {
		st.unsure(before)
	}
	u := r.use()
	u.begin(r, st, s, name, words[1:])
	out := u.all()
	r.done(u)
	return out
}

// all parses and judges, by the program's own grammar if it has one.
func (u *usage) all() WordValue {
	if u.justHelp() {
		u.projectRuns()
		return WordValue{}
	}
	if g := u.spec.reads(); g != nil {
		return g(u)
	}
	u.parse()
	u.gitDir()
	if u.help && !u.strange && !u.unlisted && len(u.operands) == 0 && u.onlyHelp() {
		u.projectRuns()
		return WordValue{}
	}
	out := u.judge()
	for _, s := range u.chain {
		if g := s.looks(); g != nil {
			out = g(u, out)
		}
	}
	if g := u.spec.looks(); g != nil {
		out = g(u, out)
	}
	return out
}

// justHelp recognises a lone --help or --version.
func (u *usage) justHelp() bool {
	if len(u.args) != 1 || !u.args[0].Known() || u.spec.grammar == "none" {
		return false
	}
	t := u.args[0].Text
	o := u.spec.option(t)
	return (t == "--help" || t == "--version") && (u.spec.does == 0 || o != nil && o.help)
}

// onlyHelp reports whether nothing but a question for help was given.
func (u *usage) onlyHelp() bool {
	return !slices.ContainsFunc(u.given, func(g given) bool { return !g.help })
}

// systemDirs hold programs that came with the system.
var systemDirs = []string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"}

// program returns the name to look up. A file elsewhere may be anything.
func (r *reader) program(w WordValue) (string, bool) {
	i := strings.LastIndexByte(w.Text, '/')
	if i < 0 {
		return w.Text, true
	}
	if slices.Contains(systemDirs, w.Text[:i+1]) {
		return w.Text[i+1:], true
	}
	r.blame(Executes, "PROGRAM_FILE", w)
	return "", false
}

// function reads the body of a function where it is called.
func (r *reader) function(f *function, args []WordValue, st *state) WordValue {
	f.called = true
	if f.body == nil || r.calls >= maxCalls {
		r.unknown("FUNCTION", "calls itself, or one of several")
		return WordValue{}
	}
	in := *f.in
	in.at, in.stdin, in.via, in.calls = r.at, r.stdin, r.via, r.calls+1
	args, st.args = st.args, args
	locals := st.locals
	st.locals = map[string]*WordValue{}
	out := in.stmt(f.body, st)
	st.leave()
	st.args, st.locals = args, locals
	return out
}

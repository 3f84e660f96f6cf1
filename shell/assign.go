package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assigns reads assignments from left to right. Without a command they hold for
// the shell itself, each for those behind it.
func (r *reader) assigns(list []*syntax.Assign, st *state, keep bool) []variable {
	if len(list) == 0 {
		return nil
	}
	out := make([]variable, 0, len(list))
	for _, a := range list {
		at := r.at
		v := variable{a.Name.Value, r.assignedValue(a, st)}
		r.at = at
		if keep {
			r.assigned(v.name, v.value)
			st.set(v.name, v.value)
		}
		out = append(out, v)
	}
	return out
}

func (r *reader) assignedValue(a *syntax.Assign, st *state) WordValue {
	if a.Index != nil {
		r.arithm(a.Index, st)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				r.arithm(e.Index, st)
			}
			r.word(nil, e.Value, st)
		}
		return WordValue{}
	}
	v := r.one(a.Value, st)
	switch {
	case a.Index != nil:
		return WordValue{}
	case a.Append:
		before, ok := st.vars[a.Name.Value]
		if !ok || before.Kind != Const || v.Kind != Const {
			return WordValue{}
		}
		if len(before.Text)+len(v.Text) > MaxSource {
			return WordValue{}
		}
		v.Text = before.Text + v.Text
	case v.Kind == Const && v.home:
	case v.Kind == Const && a.Value != nil && strings.Contains(v.Text, "~"):
		return WordValue{} // bash expands ~ behind a colon, too
	}
	return v
}

// assigned judges a variable that the shell sets for itself, and for what it
// runs if the variable was exported before.
func (r *reader) assigned(name string, v WordValue) {
	if runs(name) && !harmlessValue(name, v) {
		r.add(Effect{Action: Executes, Code: "VARIABLE_RUNS", Detail: name, Start: v.Start, End: v.End})
	}
}

// environment judges variables in front of a command whose spec is s.
func (r *reader) environment(list []variable, s *spec) {
	for _, a := range list {
		r.variable(a, s)
	}
}

func (r *reader) variable(a variable, s *spec) {
	if matchName(safeVariables[:], a.name) || harmlessValue(a.name, a.value) {
		return
	}
	known := s != nil && s.envKnown && !slices.Contains(s.env, a.name)
	switch {
	case s != nil && s.is(assigns) && a.name == "IFS": // IFS= read
	case runs(a.name):
		r.add(Effect{Action: Executes, Code: "VARIABLE_RUNS", Detail: a.name, Start: a.value.Start, End: a.value.End})
	case !known:
		r.add(Effect{Code: "VARIABLE", Detail: a.name, Start: a.value.Start, End: a.value.End})
	}
}

// harmlessValue knows values that do no harm whatever reads them: a PATH of
// system folders, a pager that only prints.
func harmlessValue(name string, v WordValue) bool {
	if !v.Known() {
		return false
	}
	switch {
	case name == "PATH":
		for dir := range strings.SplitSeq(v.Text, ":") {
			if !slices.Contains(systemDirs, dir+"/") {
				return false
			}
		}
		return true
	case strings.HasSuffix(name, "PAGER"):
		return v.Text == "cat" || v.Text == ""
	case name == "TERM":
		return !strings.Contains(v.Text, "/")
	case name == "GIT_OPTIONAL_LOCKS", name == "GIT_TERMINAL_PROMPT":
		return v.Text == "0" || v.Text == "1"
	}
	return false
}

// runs reports whether the value of a variable is run, or names what is.
func runs(name string) bool {
	return !matchName(safeVariables[:], name) && matchName(riskyVariables[:], name)
}

// matchName reports whether a name is in the list, where a * at either end of an
// element stands for any text.
func matchName(patterns []string, name string) bool {
	for _, p := range patterns {
		begin, end := p[0] == '*', p[len(p)-1] == '*'
		switch {
		case begin && end:
			if strings.Contains(name, p[1:len(p)-1]) {
				return true
			}
		case begin:
			if strings.HasSuffix(name, p[1:]) {
				return true
			}
		case end:
			if strings.HasPrefix(name, p[:len(p)-1]) {
				return true
			}
		case p == name:
			return true
		}
	}
	return false
}

// declare reads export, declare, local, readonly, typeset and nameref.
func (r *reader) declare(c *syntax.DeclClause, st *state) {
	at, s := r.at, r.spanOf(c)
	words := []WordValue{{Kind: Const, Text: c.Variant.Value, Start: s.start, End: s.end}}
	defer func() { r.at = at }()
	if !r.begin(Simple{Words: words, Dir: st.dir, Start: s.start, End: s.end}) {
		return
	}
	index := r.at
	exports, number, global := c.Variant.Value == "export", false, c.Variant.Value == "export" || c.Variant.Value == "readonly"
	var sets []variable // all values are expanded before one is set
	for _, a := range c.Args {
		if a.Naked || a.Name == nil {
			v := WordValue{Kind: Const}
			if a.Name != nil {
				v.Text = a.Name.Value
			}
			if a.Value != nil {
				v = r.one(a.Value, st)
			}
			r.at = index
			words = append(words, v)
			r.declared(c.Variant.Value, v)
			exports = exports || strings.HasPrefix(v.Text, "-") && strings.Contains(v.Text, "x")
			global = global || strings.HasPrefix(v.Text, "-") && strings.Contains(v.Text, "g")
			number = number || strings.HasPrefix(v.Text, "-") && strings.Contains(v.Text, "i")
			if exports && syntax.ValidName(v.Text) {
				r.exported(variable{v.Text, WordValue{}})
			}
			continue
		}
		v := r.assignedValue(a, st)
		r.at = index
		if strings.Contains(r.text(a), "{") {
			v = WordValue{} // declare x={a,b} is declare x=a x=b
		}
		if number {
			r.number(v, a)
		}
		words = append(words, WordValue{Kind: Begins, Text: a.Name.Value + "="})
		if exports {
			r.exported(variable{a.Name.Value, v})
		} else {
			r.assigned(a.Name.Value, v)
		}
		sets = append(sets, variable{a.Name.Value, v})
	}
	if c.Variant.Value == "readonly" || slices.ContainsFunc(words[1:], func(w WordValue) bool { return strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "rilucn") }) {
		r.fixed(words[1:])
	}
	if !global {
		st.declareLocal(words[1:])
	}
	for _, v := range sets {
		if !global {
			st.local(v.name)
		}
		st.set(v.name, v.value)
	}
	r.facts.Commands[index].Words = words
	r.printed(words[1:])
}

// fixed refuses variables that stay what they are, are numbers or change case:
// nothing keeps track of what later assignments then do.
func (r *reader) fixed(words []WordValue) {
	for _, w := range words {
		if !strings.HasPrefix(w.Text, "-") {
			r.add(Effect{Code: "READONLY", Detail: strings.TrimSuffix(w.Text, "=")})
		}
	}
}

// printed judges a declaration that only shows variables: all, or those it names.
func (r *reader) printed(words []WordValue) {
	names, shows := 0, false
	for _, w := range words {
		switch {
		case strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "fF"):
			return // functions
		case strings.HasPrefix(w.Text, "-"):
			shows = shows || strings.Contains(w.Text, "p")
		default:
			names++
			if shows && secretName(w.Text) {
				r.blame(ShowsSecret, "SECRET_VARIABLE", w)
			}
		}
	}
	if names == 0 {
		r.add(Effect{Action: ShowsSecret, Code: "SHOWS_ENVIRONMENT"})
	}
}

// declared judges an option or a name without a value.
func (r *reader) declared(variant string, v WordValue) {
	switch {
	case !v.Known():
		r.blame(Unknown, "EVALUATES_NAME", v)
	case variant == "nameref", strings.HasPrefix(v.Text, "-") && strings.ContainsAny(v.Text, "nf"):
		if v.Text != "-f" || variant == "export" { // declare -f prints
			r.blame(Unknown, "DECLARATION", v)
		}
	case strings.HasPrefix(v.Text, "-") || strings.HasPrefix(v.Text, "+"):
		if strings.Trim(v.Text[1:], "agilprtuxAFI") != "" {
			r.blame(Unknown, "UNKNOWN_OPTION", v)
		}
	case !syntax.ValidName(v.Text):
		r.blame(Unknown, "EVALUATES_NAME", v)
	}
}

// exported judges a variable that everything run from now on gets.
func (r *reader) exported(a variable) {
	if matchName(safeVariables[:], a.name) || harmlessValue(a.name, a.value) {
		return
	}
	if runs(a.name) {
		r.add(Effect{Action: Executes, Code: "VARIABLE_RUNS", Detail: a.name, Start: a.value.Start, End: a.value.End})
		return
	}
	r.add(Effect{Action: ChangesShell, Code: "EXPORT", Detail: a.name, Start: a.value.Start, End: a.value.End})
}

func validName(s string) bool { return syntax.ValidName(s) }

package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param adds the value of a parameter.
func (b *builder) param(p *syntax.ParamExp, quoted bool) {
	if p.Param == nil {
		b.r.unknown("SYNTAX", "an expansion that is not known")
		b.add(WordValue{}, quoted)
		return
	}
	name := p.Param.Value
	all := name == "@" || name == "*" || b.indexed(p)
	own := b.st.vars[name].Kind // the line itself gave it a value
	if (own <= Fields || own == Begins) && !p.Length && !p.Excl && (p.Exp == nil || p.Exp.Op != syntax.AlternateUnset && p.Exp.Op != syntax.AlternateUnsetOrNull) {
		b.r.secretVariable(name, p)
	}
	if p.Slice != nil {
		b.r.arithm(p.Slice.Offset, b.st)
		b.r.arithm(p.Slice.Length, b.st)
	}
	if p.Repl != nil {
		b.r.one(p.Repl.Orig, b.st)
		b.r.one(p.Repl.With, b.st)
	}
	switch {
	case p.Length:
		b.add(WordValue{Kind: Integer}, quoted)
	case p.Names != 0, p.Excl && all:
		b.add(WordValue{Kind: Fields}, quoted && p.Names != syntax.NamesPrefixWords)
	case p.Excl:
		b.r.secretVariable(b.st.vars[name].Text, p)
		b.indirect(name, quoted)
	case p.Exp != nil:
		b.add(b.r.operator(p, b.value(name), b.st), quoted && !all)
	case p.Slice != nil || p.Repl != nil:
		b.add(WordValue{}, quoted && !all)
	case (name == "@" || name == "*") && !b.whole:
		b.positional(name == "@", quoted)
	case all:
		b.add(WordValue{}, b.whole)
	default:
		b.add(b.value(name), quoted)
	}
}

// indexed reads the subscript, which bash evaluates, and reports whether it
// stands for all elements.
func (b *builder) indexed(p *syntax.ParamExp) bool {
	if p.Index == nil {
		return false
	}
	if w, ok := p.Index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		return true
	}
	b.r.arithm(p.Index, b.st)
	return false
}

// positional adds "$@" or $*.
func (b *builder) positional(each, quoted bool) {
	for i, v := range b.st.args {
		if i > 0 {
			if each || !quoted {
				b.finish()
			} else if v.Kind != Fields && v.Kind != Listed { // of which there may be none
				b.text(" ")
			}
		}
		several := each && (v.Kind == Fields || v.Kind == Listed) // in quotes, too
		b.add(v, quoted && !several)
	}
}

// nothing reports whether a part is "$@" without parameters, which is no word.
func (b *builder) nothing(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 || b.whole || len(b.st.args) > 0 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && p.Param.Value == "@" && p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Index == nil && !p.Length && !p.Excl
}

// indirect adds ${!name}. The value of name may be a[$(rm x)], which is run.
func (b *builder) indirect(name string, quoted bool) {
	if v := b.st.vars[name]; v.Kind == Const && syntax.ValidName(v.Text) {
		b.add(b.value(v.Text), quoted)
		return
	}
	b.r.unknown("INDIRECT_EXPANSION", name)
	b.add(WordValue{}, quoted)
}

// numeric variables that the shell sets itself.
var integers = []string{"#", "?", "$", "!", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "EPOCHSECONDS", "SRANDOM"}

func (b *builder) value(name string) WordValue {
	if v, ok := b.st.vars[name]; ok {
		return v
	}
	switch {
	case name == "HOME" && b.r.env.Home != "":
		return WordValue{Kind: Const, Text: b.r.env.Home}
	case name == "PWD" && b.st.dir != "" && b.st.stay == "":
		return WordValue{Kind: Const, Text: b.st.dir}
	case slices.Contains(integers, name):
		return WordValue{Kind: Integer}
	case len(name) == 1 && name[0] >= '1' && name[0] <= '9':
		return b.r.argument(int(name[0]-'1'), b.st)
	}
	return WordValue{}
}

func (r *reader) argument(i int, st *state) WordValue {
	for n, v := range st.args {
		switch {
		case v.Kind == Fields || v.Kind == Glob || v.Kind == Listed:
			return WordValue{}
		case n == i:
			return v
		}
	}
	return WordValue{Kind: Const}
}

// operator returns what ${name op word} can be.
func (r *reader) operator(p *syntax.ParamExp, v WordValue, st *state) WordValue {
	var word WordValue
	if p.Exp.Word != nil {
		word = r.one(p.Exp.Word, st)
	}
	_, set := st.vars[p.Param.Value]
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if v.Kind == Const && v.Text != "" {
			return v
		}
		if set && v.Kind == Const && p.Exp.Op == syntax.DefaultUnsetOrNull {
			return word
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		st.set(p.Param.Value, WordValue{})
		r.assigned(p.Param.Value, word)
	case syntax.OtherParamOps:
		if word.Text == "P" || !word.Known() {
			r.blame(Executes, "PROMPT_EXPANSION", word)
		}
	default:
	}
	return WordValue{}
}

// secretNames are parts of names of variables that hold credentials, secretEnds
// what such names end with. An address may have a password in it.
var (
	secretNames = []string{"TOKEN", "SECRET", "PASSW", "APIKEY", "API_KEY", "ACCESS_KEY", "CREDENTIAL", "PASSPHRASE", "CONNECTION_STRING", "CONNSTR"}
	secretEnds  = []string{
		"_KEY", "_KEYS", "_KEY_ID", "_KEY_BASE64", "_KEY_B64", "_KEY_FILE", "_PASS", "_PWD", "_PW", "_CREDS", "_AUTH", "_PAT", "_DSN", "_COOKIE", "_JWT", "_BEARER",
		"_PEM", "_SALT", "_OTP", "_PIN", "_WEBHOOK", "_WEBHOOK_URL", "DATABASE_URL", "DB_URL", "DATABASE_URI", "DB_URI", "REDIS_URL", "MONGO_URL", "MONGODB_URI", "MONGO_URI",
		"POSTGRES_URL", "AMQP_URL", "BROKER_URL", "INDEX_URL",
	}
	publicEnds = []string{"PUBLIC_KEY", "PUB_KEY"}
)

func secretName(name string) bool {
	name = strings.ToUpper(name)
	ends := func(list []string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.HasSuffix(name, s) })
	}
	return slices.ContainsFunc(secretNames, func(s string) bool { return strings.Contains(name, s) }) || ends(secretEnds) && !ends(publicEnds)
}

func (r *reader) secretVariable(name string, p *syntax.ParamExp) {
	if secretName(name) {
		s := r.spanOf(p)
		r.add(Effect{Action: ShowsSecret, Code: "SECRET_VARIABLE", Detail: name, Start: s.start, End: s.end})
	}
}

// substitution reads $(…) and returns its output.
func (r *reader) substitution(list []*syntax.Stmt, st *state) WordValue {
	at := r.at
	out := r.stmts(list, st.clone())
	r.at = at
	if out.Kind == Const && strings.ContainsAny(out.Text, "\n") {
		out.Text = strings.TrimRight(out.Text, "\n")
	}
	return out
}

// process reads <(…) and >(…).
func (r *reader) process(p *syntax.ProcSubst, st *state) {
	at, stdin := r.at, r.stdin
	r.stdin = &WordValue{}
	r.stmts(p.Stmts, st.clone())
	r.at, r.stdin = at, stdin
}

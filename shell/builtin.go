package shell

import (
	"slices"
	"strings"
)

// echo prints its words, whatever they are.
func echo(u *usage) WordValue {
	if !known(u.args) {
		return echoed(u.args)
	}
	text := joined(u.args).Text
	if strings.HasPrefix(text, "-") || strings.Contains(text, `\`) {
		return WordValue{} // shells differ on options and escapes
	}
	return WordValue{Kind: Const, Text: text}
}

func known(words []WordValue) bool {
	return !slices.ContainsFunc(words, func(w WordValue) bool { return !w.Known() })
}

// joined is words with blanks between them, as one.
func joined(words []WordValue) WordValue {
	if len(words) == 0 {
		return WordValue{Kind: Const}
	}
	line := words[0]
	if len(words) == 1 {
		return line
	}
	if !known(words) {
		line.Kind = Any
	}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	line.Text, line.End = strings.Join(texts, " "), words[len(words)-1].End
	return line
}

// echoed is what echo prints if not all is known: one list of names stays one.
func echoed(words []WordValue) WordValue {
	if len(words) == 1 {
		w := words[0]
		w.Start, w.End = 0, 0
		return w
	}
	return WordValue{}
}

// printf evaluates the name behind -v.
func printf(u *usage) WordValue {
	if len(u.args) == 0 {
		return WordValue{Kind: Const}
	}
	switch w := u.args[0]; {
	case w.Known() && w.Text == "--":
		u.args = u.args[1:]
	case w.Known() && strings.HasPrefix(w.Text, "-v"):
		name := w
		if name.Text = w.Text[2:]; name.Text == "" && len(u.args) > 1 {
			name = u.args[1]
		}
		u.shaped(asName, name, "OPTION")
	case mayBeOption(w) && (!w.Known() || len(w.Text) > 1):
		u.blame(Unknown, "MAY_BE_OPTION", w)
	}
	return printed(u.args)
}

// printed is the output of printf '%s\n' word…, or of a format without words.
func printed(args []WordValue) WordValue {
	switch {
	case len(args) == 0 || !args[0].Known():
		return WordValue{}
	case len(args) == 1 && !strings.ContainsAny(args[0].Text, `%\`):
		return args[0]
	}
	format := strings.TrimSuffix(strings.TrimSuffix(args[0].Text, `\n`), `\0`)
	if format != "%s" {
		return WordValue{}
	}
	if len(args) == 2 {
		return echoed(args[1:])
	}
	out := WordValue{Kind: Const}
	for _, w := range args[1:] {
		if !w.Known() {
			return WordValue{}
		}
		out.Text += w.Text + "\n"
	}
	return out
}

// test evaluates the name behind -v and -R; whatever else stands there is text.
func test(u *usage) WordValue {
	for i, w := range u.args {
		switch {
		case w.Known() && (w.Text == "-v" || w.Text == "-R") && i+1 < len(u.args):
			if next := u.args[i+1]; !next.Known() || !validName(next.Text) {
				u.blame(Unknown, "EVALUATES_NAME", next)
			}
		case w.Kind == Fields || w.Kind == Listed, i == 0 && !w.Known() && w.Kind != Integer && len(u.args) == 2 && u.name == "test":
			u.blame(Unknown, "MAY_BE_OPTION", w)
		}
	}
	return WordValue{}
}

// eval reads its words as a script of this shell.
func eval(u *usage) WordValue {
	args := u.args
	if len(args) > 0 && args[0].Known() && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return WordValue{Kind: Const}
	}
	return u.nested(joined(args), "eval", u.st)
}

// cd changes the directory that paths are seen from.
func cd(u *usage, out WordValue) WordValue {
	dir := WordValue{Kind: Const, Text: u.env.Home}
	if len(u.operands) > 0 {
		dir = u.operands[0]
	}
	p, below := u.st.resolve(dir)
	if below || !strings.HasPrefix(p, "/") || dir.Text == "-" || dir.Text == "" || len(u.operands) > 1 || u.has("-P") || u.assignedName("CDPATH") || u.name == "popd" {
		p = ""
	}
	before := u.st.dir
	switch {
	case u.st.stay != "" && !strings.HasPrefix(dir.Text, "/"):
		p = "" // one of several
	case p == "" || u.env.Files != nil && u.env.Files.Folder(p):
		u.st.stay = ""
	case u.st.stay != "":
		p = ""
	default:
		u.st.stay = before
	}
	u.st.dir = p
	if u.st.vars != nil {
		delete(u.st.vars, "PWD")
	}
	return out
}

func (u *usage) assignedName(name string) bool {
	_, ok := u.st.vars[name]
	return ok
}

func pwd(u *usage, _ WordValue) WordValue {
	if u.st.dir != "" && u.st.stay == "" {
		return WordValue{Kind: Const, Text: u.st.dir}
	}
	return WordValue{}
}

var setNames = names("pipefail errexit nounset xtrace noglob noclobber verbose errtrace functrace")

// setOptions knows the options of set that make a script stricter or louder,
// and positional parameters.
func setOptions(u *usage) WordValue {
	if len(u.args) == 0 {
		u.unknownSecret()
	}
	for i := 0; i < len(u.args); i++ {
		w := u.args[i]
		switch {
		case !w.Known():
			u.blame(Unknown, "MAY_BE_OPTION", w)
			return WordValue{}
		case w.Text == "--":
			u.st.args = u.args[i+1:]
			return WordValue{}
		case (w.Text == "-o" || w.Text == "+o") && i+1 < len(u.args):
			i++
			if o := u.args[i]; !o.Known() || !setNames()[o.Text] {
				u.blame(Unknown, "UNKNOWN_OPTION", o)
			}
		case len(w.Text) > 2 && w.Text[0] == '-' && strings.HasSuffix(w.Text, "o") && strings.Trim(w.Text[1:len(w.Text)-1], "euxfCvE") == "" && i+1 < len(u.args):
			if i++; u.args[i].Text != "pipefail" {
				u.blame(Unknown, "UNKNOWN_OPTION", u.args[i])
			}
		case w.Text == "" || w.Text[0] != '-' && w.Text[0] != '+':
			u.st.args = u.args[i:]
			return WordValue{}
		case strings.Trim(w.Text[1:], "euxfCvE") != "":
			u.blame(Unknown, "UNKNOWN_OPTION", w)
		}
	}
	return WordValue{}
}

// unset evaluates subscripts of names.
func unset(u *usage, out WordValue) WordValue {
	for _, w := range u.operands {
		switch {
		case !w.Known() || !validName(w.Text):
			u.blame(Unknown, "EVALUATES_NAME", w)
		case u.has("-f"):
			delete(u.st.funcs, w.Text)
		default:
			if u.st.funcs[w.Text] != nil && !u.has("-v") { // without a variable of that name, the function goes
				u.st.funcs[w.Text] = &function{called: true}
			}
			u.assigned(w.Text, WordValue{Kind: Const})
			u.st.set(w.Text, WordValue{Kind: Const})
		}
	}
	return out
}

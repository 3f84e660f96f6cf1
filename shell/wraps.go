package shell

import (
	"slices"
	"strings"
)

// envCommand reads env [option]… [name=value]… [command…].
func envCommand(u *usage) WordValue {
	var vars []variable
	root := *u.spec
	root.traits |= stops
	u.spec = &root
	u.parse()
	for i, g := range u.given {
		if g.takes == asShell { // -S: a command with its words, split by env itself
			u.split(g.value, u.operands)
			u.given[i].option = &option{name: g.name}
			u.operands = nil
		}
		if g.name == "-C" || g.name == "--chdir" {
			u.st = u.st.clone()
			cd(&usage{reader: u.reader, st: u.st, spec: u.spec, operands: []WordValue{g.value}}, WordValue{})
			u.st.stay = "" // without the folder nothing is run
		}
	}
	for len(u.operands) > 0 {
		w := u.operands[0]
		if w.Known() && (w.Text == "-" || w.Text == "--") {
			u.operands = u.operands[1:]
			continue
		}
		name, value, ok := strings.Cut(w.Text, "=")
		if !ok || w.Kind != Const && w.Kind != Begins {
			break
		}
		v := w
		v.Text = value
		if w.Kind == Begins {
			v.Kind = Any
		}
		vars = append(vars, variable{name, v})
		u.operands = u.operands[1:]
	}
	command := u.operands
	u.operands = nil
	u.judge()
	if len(command) == 0 {
		if !u.has("-S", "--split-string") {
			u.unknownSecret()
		}
		return WordValue{}
	}
	return u.runWith(command, vars, u.name)
}

func (u *usage) unknownSecret() {
	u.add(Effect{Action: ShowsSecret, Code: "SHOWS_ENVIRONMENT", Detail: u.name})
}

// split reads the value of env -S, which env splits like simple shell words.
func (u *usage) split(v WordValue, more []WordValue) {
	words, ok := Words(v.Text)
	if !v.Known() || !ok {
		u.blame(Executes, "UNKNOWN_SCRIPT", v)
		return
	}
	inner := []WordValue{{Kind: Const, Text: "env", Start: v.Start, End: v.End}}
	for _, w := range words {
		inner = append(inner, WordValue{Kind: Const, Text: w, Start: v.Start, End: v.End})
	}
	u.run(append(inner, more...), u.name)
}

// xargs appends what comes in to the words of a command, or puts it in place of
// a mark.
func xargs(u *usage, _ WordValue) WordValue {
	command := u.operands
	if len(command) == 0 {
		command = []WordValue{{Kind: Const, Text: "echo"}}
	}
	items := u.items()
	mark, replaces := u.value("-I", "--replace", "-i", "-J")
	if replaces {
		if mark.Kind != Const || mark.Text == "" {
			mark = WordValue{Kind: Const, Text: "{}"}
		}
		return u.run(substitute(command, mark.Text, item(items)), u.name)
	}
	return u.run(slices.Concat(command, items), u.name)
}

// items are the words that xargs gets. Nobody chose in this text what the command
// line as a whole gets as input: it counts as names in the working directory.
func (u *usage) items() []WordValue {
	if u.has("-a", "--arg-file") {
		return []WordValue{{Kind: Fields}}
	}
	if u.stdin == nil {
		return []WordValue{{Kind: Listed, Text: "./"}}
	}
	in := *u.stdin
	switch in.Kind {
	case Const:
		if strings.ContainsAny(in.Text, `'"\`) || len(in.Text) > 4096 || u.has("-d", "--delimiter", "-0", "--null", "-E", "--eof", "-e") {
			return []WordValue{{Kind: Fields}}
		}
		var out []WordValue
		for _, f := range strings.Fields(in.Text) {
			out = append(out, WordValue{Kind: Const, Text: f, Start: in.Start, End: in.End})
		}
		return out
	case Listed, Names:
		return []WordValue{{Kind: Listed, Text: in.Text, secret: in.secret, named: in.named}}
	case Glob:
		return []WordValue{in}
	default:
		return []WordValue{{Kind: Fields}}
	}
}

// substitute puts v where mark stands in words.
func substitute(words []WordValue, mark string, v WordValue) []WordValue {
	out := make([]WordValue, len(words))
	for i, w := range words {
		before, _, found := strings.Cut(w.Text, mark)
		switch {
		case !found:
		case w.Text == mark:
			v.Start, v.End = w.Start, w.End
			w = v
		case before != "":
			w = WordValue{Kind: Begins, Text: before, Start: w.Start, End: w.End}
		default:
			w = WordValue{Start: w.Start, End: w.End}
		}
		out[i] = w
	}
	return out
}

// shellCommand reads sh -c 'line', or a script from standard input.
func shellCommand(u *usage, _ WordValue) WordValue {
	st := newState(u.env)
	st.dir, st.stay = u.st.dir, u.st.stay
	for _, g := range u.given {
		if g.name == "-o" && (!g.value.Known() || !setNames()[g.value.Text]) {
			u.blame(Unknown, "UNKNOWN_OPTION", g.value)
		}
	}
	switch {
	case u.has("-c") && len(u.operands) == 0:
		u.unknown("NO_OPERAND", u.name)
	case u.has("-c"):
		line := u.operands[0]
		if len(u.operands) > 1 {
			st.args = u.operands[2:]
		} else {
			st.args = nil
		}
		if _, plain := Plain(line.Text); zshLike(u.name) && line.Known() && !plain {
			u.blame(Executes, "OTHER_SHELL", line) // it reads the text in its own way
		}
		return u.nested(line, u.name, st)
	case len(u.operands) > 0 && !u.has("-s"):
		u.blame(Executes, "SCRIPT_FILE", u.operands[0])
	case u.stdin != nil && u.stdin.Kind == Const:
		u.add(Effect{Action: Executes, Code: "SCRIPT_FROM_INPUT", Detail: u.name})
		line := *u.stdin
		if line.End == 0 {
			line.Start, line.End = u.facts.Commands[u.at].Start, u.facts.Commands[u.at].End
		}
		return u.nested(line, u.name, st)
	default:
		u.add(Effect{Action: Executes, Code: "SCRIPT_FROM_INPUT", Detail: u.name})
	}
	return WordValue{}
}

func zshLike(name string) bool {
	return name != "bash" && name != "sh" && name != "dash" && name != "ash" && name != "rbash"
}

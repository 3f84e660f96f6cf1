package shell

import "slices"

// judge turns what was parsed into effects.
func (u *usage) judge() WordValue {
	for _, s := range u.chain {
		u.does(s.does, "COMMAND", u.name)
	}
	u.does(u.spec.does, "COMMAND", u.name)
	for _, g := range u.given {
		u.shaped(g.takes, g.value, "OPTION")
		for a := range g.does.each {
			u.add(Effect{Action: a, Code: "OPTION", Detail: u.name + " " + g.name, Start: g.value.Start, End: g.value.End})
		}
	}
	shapes, many := u.spec.operands, u.spec.many
	for _, w := range u.spec.when {
		if !u.applies(w) {
			continue
		}
		u.does(w.does, "MODE", u.name)
		if w.operands != nil {
			shapes, many = w.operands, w.many
		}
	}
	if len(shapes) > 0 && slices.ContainsFunc(u.given, func(g given) bool { return g.instead }) {
		shapes = shapes[1:]
	}
	if len(u.operands) == 0 {
		switch {
		case u.spec.is(needs) || u.grouped:
			u.unknown("NO_OPERAND", u.name)
		case u.spec.is(here):
			u.file(Reads, WordValue{Kind: Const, Text: "."}, u.st)
		}
	}
	u.positions(shapes, many)
	return u.produces()
}

func (u *usage) does(all actions, code, detail string) {
	for a := range all.each {
		u.add(Effect{Action: a, Code: code, Detail: detail})
	}
}

func (u *usage) applies(w when) bool {
	return (len(w.with) == 0 || u.has(w.with...)) && (len(w.without) == 0 || !u.has(w.without...))
}

// positions gives each operand its shape.
func (u *usage) positions(shapes []shape, many bool) {
	if u.loose >= 0 && len(shapes) > 1 && !harmless(shapes) {
		u.unknown("UNCERTAIN_OPERANDS", u.name)
	}
	for i, w := range u.operands {
		var s shape
		switch {
		case i < len(shapes):
			s = shapes[i]
		case many && len(shapes) > 0:
			s = shapes[len(shapes)-1]
		default:
			u.add(Effect{Code: "UNKNOWN_OPERAND", Detail: u.name + " " + w.Text, Start: w.Start, End: w.End})
			continue
		}
		if u.loose >= 0 && i >= u.loose && slices.Contains(shapes, asRead) {
			s = asRead
		}
		switch s {
		case asArgv:
			u.run(u.operands[i:], u.name)
			return
		case asLine:
			u.shellLine(u.operands[i:])
			return
		default:
			u.shaped(s, w, "OPERAND")
		}
	}
}

func harmless(shapes []shape) bool {
	return !slices.ContainsFunc(shapes, func(s shape) bool { return s != asText && s != asRead && s != asPath })
}

// shaped adds the effect of one word by its shape.
func (u *usage) shaped(s shape, w WordValue, code string) {
	switch s {
	case asNone, asText, asName, asAssign:
		if s == asName && (!w.Known() || !validName(w.Text)) {
			u.blame(Unknown, "EVALUATES_NAME", w)
		} else if s == asName {
			u.assigned(w.Text, WordValue{})
			u.st.set(w.Text, WordValue{})
		}
	case asRead, asPath:
		if elsewhere(w.Text) {
			u.blame(Connects, code+"_HOST", w)
		}
		u.file(Reads, w, u.st)
	case asWrite:
		u.file(Writes, w, u.st)
	case asDelete:
		u.file(Deletes, w, u.st)
	case asProgram:
		u.blame(Executes, code+"_PROGRAM", w)
		u.run([]WordValue{w, {Kind: Fields, Start: w.Start, End: w.End}}, u.name)
	case asShell:
		u.nested(w, u.name, u.st.clone())
	case asLine:
		u.shellLine([]WordValue{w})
	case asArgv:
		u.run([]WordValue{w}, u.name)
	case asScript, asCode:
		u.blame(Executes, code+"_CODE", w)
	case asHost:
		u.blame(Connects, code+"_HOST", w)
	case asSecret:
		u.blame(ShowsSecret, code+"_SECRET", w)
	case asChange:
		u.blame(Unknown, code+"_CHANGES", w)
	default:
		u.blame(Unknown, code, w)
	}
}

// shellLine joins words with blanks, as ssh and watch do.
func (u *usage) shellLine(words []WordValue) {
	u.nested(joined(words), u.name, u.st.clone())
}

// run judges words as a command that this one runs.
func (u *usage) run(words []WordValue, via string) WordValue {
	return u.runWith(words, nil, via)
}

// runWith does so with variables in front of the command.
func (u *usage) runWith(words []WordValue, vars []variable, via string) WordValue {
	in := *u.reader
	in.via = slices.Concat(u.via, []string{via})
	if in.depth++; in.depth > maxScripts {
		u.unreadable("TOO_DEEP", "commands within commands")
		return WordValue{}
	}
	st := u.st
	if u.spec.name != "builtin" && u.spec.name != "command" {
		st = st.clone()
	}
	return in.simple(words, vars, st)
}

// produces returns what is known about the output.
func (u *usage) produces() WordValue {
	switch u.spec.output {
	case "stdin":
		if u.stdin != nil && len(u.operands) == 0 {
			return *u.stdin
		}
	case "paths":
		return listed(u.operands)
	case "names":
		if u.has("-a", "--all", "-f") {
			return WordValue{} // .. is among them
		}
		return WordValue{Kind: Listed}
	case "number":
		return WordValue{Kind: Integer}
	}
	return WordValue{}
}

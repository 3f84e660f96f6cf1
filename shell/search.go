package shell

import (
	"slices"
	"strings"
)

// grep reads the working directory if it is told to go through folders and not
// which. What it prints are lines of its input, or names of files.
func grep(u *usage, out WordValue) WordValue {
	files := u.operands
	if len(files) > 0 && !slices.ContainsFunc(u.given, func(g given) bool { return g.instead }) {
		files = files[1:]
	}
	recursive := u.spec.grammar == "rg" || u.has("-r", "-R", "--recursive", "--dereference-recursive")
	if recursive {
		u.through(files)
	}
	switch {
	case u.has("--label", "--path-separator"):
		return WordValue{}
	case u.has("-l", "-L", "--files-with-matches", "--files-without-match", "--files"):
		return listed(files)
	case len(files) == 0 && u.stdin != nil && !u.has("-o", "--only-matching", "-r", "--replace"):
		return *u.stdin
	}
	return out
}

// through judges a search through folders: all that is below them is read.
func (u *usage) through(dirs []WordValue) {
	rg := u.spec.grammar == "rg"
	which := &Which{Visible: rg && !u.has("--hidden", "-.", "-u", "--unrestricted"), Linked: u.has("-R", "--dereference-recursive", "--follow") || rg && u.has("-L")}
	var names []string
	for _, g := range u.given {
		if g.name == "--include" {
			names = append(names, g.value.Text)
		}
	}
	if len(names) > 0 {
		which.Named = "{" + strings.Join(names, ",") + "}"
	}
	if len(dirs) == 0 && rg && u.stdin != nil {
		return
	}
	if len(dirs) == 0 {
		dirs = []WordValue{{Kind: Const, Text: "."}}
	}
	for _, w := range dirs {
		if p, _ := u.st.place(w); p != "" && !elsewhere(w.Text) {
			u.add(Effect{Action: Reads, Code: "FILE", Detail: w.Text, Path: clean(p), Below: true, Which: which, Start: w.Start, End: w.End})
		} else {
			u.file(Reads, w, u.st)
		}
	}
}

// folders is for programs that go through folders if they are told to.
func folders(u *usage, out WordValue) WordValue {
	if u.has("-r", "-R", "-a", "--recursive", "--archive", "-c", "--create") {
		from := u.operands
		if u.spec.name == "cp" && len(from) > 0 {
			from = from[:len(from)-1]
		}
		u.through(from)
	}
	return out
}

// listed are paths below folders.
func listed(dirs []WordValue) WordValue {
	switch {
	case len(dirs) == 0:
		return WordValue{Kind: Listed}
	case len(dirs) == 1 && (dirs[0].Known() && dirs[0].Text != "" || dirs[0].Kind == Names || dirs[0].Kind == Listed):
		return WordValue{Kind: Listed, Text: dirs[0].Text}
	case len(dirs) == 1 && dirs[0].Kind == Glob:
		return WordValue{Kind: Listed, Text: globRoot(dirs[0].Text)}
	}
	return WordValue{}
}

// fd is like find, with a command behind -x or -X.
func fd(u *usage) WordValue {
	words := u.args
	var command []WordValue
	for i, w := range words {
		if w.Known() && (w.Text == "-x" || w.Text == "--exec" || w.Text == "-X" || w.Text == "--exec-batch") {
			u.args, command = words[:i], words[i+1:]
			break
		}
	}
	u.parse()
	u.judge()
	dirs := u.operands
	if len(dirs) > 0 {
		if strings.HasPrefix(dirs[0].Text, "/") {
			u.file(Reads, dirs[0], u.st)
		}
		dirs = dirs[1:]
	}
	if len(dirs) == 0 {
		u.file(Reads, WordValue{Kind: Const, Text: "."}, u.st)
	}
	out := listed(dirs)
	if command == nil && u.has("--format", "--path-separator") {
		return WordValue{} // whatever the format says
	}
	if command == nil {
		return out
	}
	if len(command) > 0 && command[len(command)-1].Text == ";" {
		command = command[:len(command)-1]
	}
	found := WordValue{Kind: Names, Text: out.Text}
	if out.Kind != Listed {
		found = WordValue{Kind: Begins, Text: "/"}
	}
	if !slices.ContainsFunc(command, func(w WordValue) bool { return strings.Contains(w.Text, "{") }) {
		command = append(command[:len(command):len(command)], found)
	}
	for _, mark := range []string{"{}", "{/}", "{//}", "{.}", "{/.}"} {
		command = substitute(command, mark, found)
	}
	if len(command) == 0 || slices.ContainsFunc(command, func(w WordValue) bool { return w.Known() && w.Text == ";" }) {
		u.unknown("NO_OPERAND", "fd --exec")
		return WordValue{}
	}
	u.run(command, "fd --exec")
	return WordValue{}
}

package shell

import (
	"slices"
	"strings"
)

// date sets the clock unless its operand is a format.
func date(u *usage, out WordValue) WordValue {
	for _, w := range u.operands {
		if !strings.HasPrefix(w.Text, "+") {
			u.blame(ActsOnSystem, "SETS_CLOCK", w)
		}
		if w.Known() && len(w.Text) > 1 && strings.Trim(w.Text, "+%sNYmdHMSjuwVgG0123456789-") == "" && !strings.Contains(w.Text[1:], "-") {
			out = WordValue{Kind: Integer}
		}
	}
	return out
}

var ddNames = names("bs cbs conv count ibs iflag iseek obs oflag oseek seek skip status")

// dd reads if=, writes of=.
func dd(u *usage) WordValue {
	for _, w := range u.args {
		name, value, ok := strings.Cut(w.Text, "=")
		v := w
		v.Text = value
		if w.Kind == Begins {
			v.Kind = Any
		}
		switch {
		case !ok || w.Kind != Const && w.Kind != Begins:
			u.blame(Unknown, "UNKNOWN_OPERAND", w)
		case name == "if":
			u.file(Reads, v, u.st)
		case name == "of":
			u.file(Writes, v, u.st)
		case !ddNames[name]:
			u.blame(Unknown, "UNKNOWN_OPERAND", w)
		}
	}
	return WordValue{}
}

// jq programs can read the environment and modules, and no more.
func jq(u *usage, out WordValue) WordValue {
	programs := u.operands
	if len(programs) > 1 {
		programs = programs[:1]
	}
	if u.has("-f", "--from-file") {
		programs = nil
	}
	for _, w := range programs {
		switch {
		case !w.Known():
			u.blame(Unknown, "UNKNOWN_SCRIPT", w)
		case hasName(w.Text, "env") || hasName(w.Text, "ENV") || hasName(w.Text, "strenv") || hasName(w.Text, "envsubst"):
			u.blame(ShowsSecret, "SHOWS_ENVIRONMENT", w)
		case hasName(w.Text, "import") || hasName(w.Text, "include") || hasName(w.Text, "load") || hasName(w.Text, "load_str") || hasName(w.Text, "eval") || hasName(w.Text, "system") || hasName(w.Text, "split_doc_write"):
			u.blame(Unknown, "READS_MODULE", w)
		}
	}
	return out
}

// hasName reports whether a name stands in a text by itself.
func hasName(text, name string) bool {
	rest := text
	for {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		before := i > 0 && (nameByte(rest[i-1]) || rest[i-1] == '.')
		after := end < len(rest) && nameByte(rest[end])
		if !before && !after {
			return true
		}
		rest = rest[end:]
	}
}

func nameByte(c byte) bool { return alphanumeric(c) || c == '_' }

// link makes paths lead elsewhere for the rest of the script.
func link(u *usage, out WordValue) WordValue {
	u.st.linked = true
	return out
}

// git runs what its configuration says.
func git(u *usage, out WordValue) WordValue {
	if u.help {
		return out
	}
	if u.env.Files == nil || u.st.dir == "" {
		u.unknown("GIT_CONFIG_UNKNOWN", "")
		return out
	}
	settings, known := u.env.Files.GitRuns(u.st.dir)
	if !known {
		u.unknown("GIT_CONFIG_UNKNOWN", u.st.dir)
	}
	for _, s := range settings {
		u.add(Effect{Action: Executes, Code: "GIT_CONFIG_RUNS", Detail: s})
	}
	for _, w := range u.operands {
		if _, file, ok := strings.Cut(w.Text, ":"); ok && secretPath(file) {
			u.blame(ShowsSecret, "SECRET_FILE", w)
		}
	}
	if u.has("--name-only") && !u.has("--relative") {
		return WordValue{Kind: Listed}
	}
	return out
}

// kubectl shows credentials if it is asked for objects that hold them.
func kubectl(u *usage, out WordValue) WordValue {
	for _, w := range u.operands {
		for kind := range strings.SplitSeq(strings.ToLower(w.Text), ",") {
			if strings.HasPrefix(kind, "secret") || w.Kind == Fields {
				u.blame(ShowsSecret, "OPERAND_SECRET", w)
			}
		}
	}
	return out
}

// ghAPI is a GET unless it has fields or says otherwise.
func ghAPI(u *usage, out WordValue) WordValue {
	method, given := u.value("-X", "--method")
	get := given && method.Known() && strings.EqualFold(method.Text, "GET")
	for _, g := range u.given {
		if (g.name == "-H" || g.name == "--header") && (!g.value.Known() || strings.Contains(strings.ToLower(g.value.Text), "auth")) {
			u.blame(ShowsSecret, "OPTION_SECRET", g.value)
		}
	}
	switch {
	case given && !get, !given && u.has("-f", "-F", "--raw-field", "--field", "--input"), len(u.operands) == 0,
		strings.Contains(u.operands[0].Text, "graphql"), !u.operands[0].Known() && u.operands[0].Kind != Begins:
		u.add(Effect{Action: ChangesService, Code: "API_CALL", Detail: u.name})
	}
	return out
}

// printenv shows all variables, or those that are named.
func printenv(u *usage, out WordValue) WordValue {
	if len(u.operands) == 0 {
		u.unknownSecret()
	}
	for _, w := range u.operands {
		if !w.Known() || secretName(w.Text) {
			u.blame(ShowsSecret, "SECRET_VARIABLE", w)
		}
	}
	return out
}

// shift moves positional parameters.
func shift(u *usage, out WordValue) WordValue {
	u.st.args = []WordValue{{Kind: Fields}}
	return out
}

// grep reads the working directory if it is told to go through folders and not
// which. What it prints are lines of its input, or names of files.
func grep(u *usage, out WordValue) WordValue {
	files := u.operands
	if len(files) > 0 && !slices.ContainsFunc(u.given, func(g given) bool { return g.instead }) {
		files = files[1:]
	}
	recursive := u.spec.grammar == "rg" || u.has("-r", "-R", "--recursive", "--dereference-recursive")
	if len(files) == 0 && recursive && (u.spec.grammar == "grep" || u.stdin == nil) {
		u.file(Reads, WordValue{Kind: Const, Text: "."}, u.st)
	}
	switch {
	case u.has("-l", "-L", "--files-with-matches", "--files-without-match", "--files"):
		return listed(files)
	case len(files) == 0 && u.stdin != nil && !u.has("-o", "--only-matching", "-r", "--replace"):
		return *u.stdin
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

// gitRemote refuses transports that run a program.
func gitRemote(u *usage, out WordValue) WordValue {
	for _, w := range u.operands {
		if !w.Known() || strings.ContainsAny(w.Text, ":@") {
			u.blame(Connects, "OPERAND_HOST", w)
		}
	}
	return out
}

// gitConfig shows a setting only if it is asked to.
func gitConfig(u *usage, out WordValue) WordValue {
	if len(u.operands) == 1 && u.operands[0].Known() && len(u.given) == 0 && strings.Contains(u.operands[0].Text, ".") {
		return out
	}
	reads := u.has("--get", "--get-all", "--get-regexp", "--get-color", "--get-colorbool", "--get-urlmatch", "-l", "--list")
	if len(u.operands) > 0 && (u.operands[0].Text == "list" || u.operands[0].Text == "get") || reads {
		return out
	}
	u.add(Effect{Action: ChangesRepository, Code: "GIT_CONFIG", Detail: u.name})
	return out
}

// sysctl sets what has a value.
func sysctl(u *usage, out WordValue) WordValue {
	if len(u.operands)+len(u.given) == 0 {
		u.unknown("NO_OPERAND", u.name)
	}
	for _, w := range u.operands {
		if !w.Known() || strings.Contains(w.Text, "=") {
			u.blame(ActsOnSystem, "OPERAND_CHANGES", w)
		}
	}
	return out
}

// ps shows the environment of processes with e, if there is no dash.
func ps(u *usage, out WordValue) WordValue {
	for _, w := range u.operands {
		if !w.Known() || strings.Contains(w.Text, "e") && !isInteger(w.Text) {
			u.blame(ShowsSecret, "SHOWS_ENVIRONMENT", w)
		}
	}
	return out
}

// getent reads the databases of the system, passwords among them.
func getent(u *usage, out WordValue) WordValue {
	for _, w := range u.operands[:min(1, len(u.operands))] {
		if !w.Known() || strings.Contains(w.Text, "shadow") {
			u.blame(ShowsSecret, "SECRET_FILE", w)
		}
		if w.Text == "hosts" || strings.HasPrefix(w.Text, "ahosts") {
			for _, name := range u.operands[1:] {
				if !name.Known() || name.Text != "localhost" {
					u.blame(Connects, "OPERAND_HOST", name)
				}
			}
		}
	}
	return out
}

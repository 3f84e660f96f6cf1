package shell

import "strings"

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
		case !ddNames()[name]:
			u.blame(Unknown, "UNKNOWN_OPERAND", w)
		}
	}
	return WordValue{}
}

var yqCommands = names("e eval ea eval-all")

// jq programs can read the environment and modules, and no more.
func jq(u *usage, out WordValue) WordValue {
	programs := u.operands
	if u.name == "yq" && len(programs) > 1 && yqCommands()[programs[0].Text] {
		programs = programs[1:]
	}
	if len(programs) > 1 {
		programs = programs[:1]
	}
	if u.has("-f", "--from-file") {
		u.unknownSecret() // the file may print the environment
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

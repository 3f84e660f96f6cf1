package shell

import (
	"slices"
	"strings"
)

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

// gh takes the machine to talk to as part of a repository's name.
func gh(u *usage, out WordValue) WordValue {
	names := u.operands
	if repo, ok := u.value("-R", "--repo"); ok {
		names = append(slices.Clone(names), repo)
	}
	for _, w := range names {
		host, rest, _ := strings.Cut(w.Text, "/")
		if strings.Contains(host, ".") && strings.Contains(rest, "/") && u.spec.grammar != "ghapi" {
			u.blame(Connects, "OPERAND_HOST", w)
		}
	}
	return out
}

// graphQL reports whether all that a call of gh api sends is a question.
func (u *usage) graphQL() bool {
	asks := false
	for _, g := range u.given {
		switch g.name {
		case "-f", "-F", "--raw-field", "--field":
			name, text, _ := strings.Cut(g.value.Text, "=")
			text = strings.TrimSpace(text)
			switch {
			case !g.value.Known():
				return false
			case name != "query":
			case !strings.HasPrefix(text, "query") && !strings.HasPrefix(text, "{"), hasName(text, "mutation"), hasName(text, "subscription"):
				return false
			default:
				asks = true
			}
		case "--input":
			return false
		}
	}
	return asks
}

// ghAPI is a GET unless it has fields or says otherwise.
func ghAPI(u *usage, out WordValue) WordValue {
	method, given := u.value("-X", "--method")
	get := given && method.Known() && strings.EqualFold(method.Text, "GET")
	for _, g := range u.given {
		if _, file, reads := strings.Cut(g.value.Text, "=@"); reads && (g.name == "-F" || g.name == "--field") {
			v := g.value
			v.Text = file
			u.file(Reads, v, u.st)
		}
		if (g.name == "-H" || g.name == "--header") && (!g.value.Known() || strings.Contains(strings.ToLower(g.value.Text), "auth")) {
			u.blame(ShowsSecret, "OPTION_SECRET", g.value)
		}
	}
	for _, w := range u.operands {
		if strings.Contains(w.Text, "://") {
			u.blame(Connects, "OPERAND_HOST", w)
		}
	}
	switch {
	case !given && len(u.operands) == 1 && u.operands[0].Known() && u.operands[0].Text == "graphql" && u.graphQL():
	case given && !get, !given && u.has("-f", "-F", "--raw-field", "--field", "--input"), len(u.operands) == 0,
		strings.Contains(u.operands[0].Text, "graphql"), !u.operands[0].Known() && u.operands[0].Kind != Begins:
		u.add(Effect{Action: ChangesService, Code: "API_CALL", Detail: u.name})
	}
	return out
}

// simpleNames refuses operands that are more than a name: programs that take
// names of packages or pictures take addresses, pipes and code as well.
func simpleNames(u *usage, out WordValue) WordValue {
	refused := map[string]string{"package": ":", "formula": "/:", "picture": ":|@", "archive": ":"}[u.spec.grammar]
	check := u.operands
	if file, ok := u.value("-f", "--file"); ok && u.spec.grammar == "archive" { // tar reads host:file over rsh
		check = []WordValue{file}
	} else if u.spec.grammar == "archive" {
		check = nil
	}
	for _, w := range check {
		if strings.ContainsAny(w.Text, refused) || strings.HasSuffix(w.Text, ".rb") {
			u.blame(Executes, "OPERAND_CODE", w)
		}
	}
	if u.spec.grammar == "archive" {
		return folders(u, out)
	}
	return out
}

// filesInWords finds file://path and @path, which clients of services replace by
// what is in the file.
func filesInWords(u *usage, out WordValue) WordValue {
	for _, w := range u.facts.Commands[u.at].Words {
		_, file, found := strings.Cut(w.Text, "file://")
		if !found {
			_, file, found = strings.Cut(w.Text, "fileb://")
		}
		if !found {
			_, file, found = strings.Cut("="+w.Text, "=@")
		}
		if found {
			v := w
			v.Text = file
			u.file(Reads, v, u.st)
		}
	}
	return out
}

var rtkPasses = names("ls tree git gh find grep rg diff docker kubectl wc cargo go npm pnpm pip")

// rtk runs programs under their names; its other words are its own commands.
func rtk(u *usage, out WordValue) WordValue {
	if len(u.operands) > 0 && !rtkPasses()[u.operands[0].Text] {
		u.blame(Executes, "OPERAND_CODE", u.operands[0])
	}
	return out
}

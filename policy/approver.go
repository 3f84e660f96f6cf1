package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// ownProgram is the command line by which people decide. An agent that could
// run it would decide about itself.
const ownProgram = "gatelatch"

// forAgents are the subcommands that decide nothing and change neither rules
// nor keys. Whatever is not here is a person's alone, also what is yet to come.
var forAgents = map[string][]string{
	"": nil, "help": nil, "completion": nil, "man": nil, "hook": nil, "mcp": nil, "run": nil, "serve": nil, "demo": nil, "install": nil,
	"doctor": nil, "shell": nil, "ls": nil, "show": nil, "log": nil, "sessions": nil, "tools": nil, "resume": nil, "audit": nil, "backup": nil,
	"policy": {"", "check", "diff", "explain", "test", "backtest", "history", "import", "schema", "show", "suggest"},
	"config": {"", "check", "schema"},
}

// approverCommand denies a command line that would act as a person at the gate.
// No rule, mode or grant lifts that.
func (f *Facts) approverCommand() {
	for _, c := range f.approverCandidates() {
		at := slices.IndexFunc(c.Words[:programWords(c)], f.isOwnProgram)
		if at < 0 {
			continue
		}
		verb, plain := subcommand(c.Words[at+1:], c.Literal)
		if plain {
			continue
		}
		f.concerns = append(f.concerns, gatelatch.Reason{
			Effect: gatelatch.Deny, Layer: layerDefault, Field: "command", Start: c.Start, End: c.End, Part: f.shell.part(c.Start, c.End),
			Message: fmt.Sprintf("%s %sis for people: no rule lets an agent decide, or change rules and keys", ownProgram, verb),
		})
		return
	}
}

// approverCandidates are the commands to look at. What only may be one is looked
// at, too, where it is not certain what runs.
func (f *Facts) approverCandidates() []shell.Command {
	for i := range f.shell.facts.Commands {
		if w := f.shell.facts.Commands[i].Words; len(w) > 0 && w[0].Kind == shell.Const && !strings.ContainsAny(w[0].Text, "/") && w[0].Text != ownProgram {
			continue
		}
		return f.shell.commands()
	}
	if !f.shell.facts.Readable() || strings.Contains(f.shell.src, ownProgram) {
		return f.shell.commands()
	}
	return nil
}

// programWords is how many of the first words may name the program: one, but
// for go run, whose package does, and where it is not known what a wrapper runs.
func programWords(c shell.Command) int {
	goRun := len(c.Words) > 1 && path.Base(c.Words[0]) == "go" && c.Words[1] == "run"
	if goRun || c.Wrapper && !c.Literal {
		return len(c.Words)
	}
	return min(len(c.Words), 1)
}

// isOwnProgram looks through links: another name does not make it another.
func (f *Facts) isOwnProgram(word string) bool {
	own := func(p string) bool {
		name, _, _ := strings.Cut(path.Base(fold(strings.ReplaceAll(p, `\`, "/"))), "@")
		return strings.TrimSuffix(name, ".exe") == ownProgram
	}
	if own(word) {
		return true
	}
	return strings.Contains(word, "/") && slices.ContainsFunc(f.newPathUse(word, &f.left).possible, own)
}

// subcommand returns what of gatelatch the words call, and whether that is for
// agents, too. A word that is not known may be any.
func subcommand(words []string, known bool) (verb string, plain bool) {
	var verbs []string
	for _, w := range words {
		switch {
		case w == "--help" || w == "-h" || w == "--version" || w == "-v":
			if known {
				return "", true
			}
		case strings.HasPrefix(w, "-"):
			if len(verbs) == 0 {
				return "", false // its value can't be told from a subcommand
			}
		case len(verbs) < 2: //nolint:mnd // a command and its subcommand
			verbs = append(verbs, w)
		}
	}
	verbs = append(verbs, "", "")
	subs, listed := forAgents[verbs[0]]
	if !listed || !known && (verbs[0] == "" || strings.ContainsAny(verbs[0]+verbs[1], "$`*?{")) {
		return firstWord(verbs[0]), false
	}
	return verbs[0] + " ", subs == nil || slices.Contains(subs, verbs[1])
}

// firstWord is a subcommand to be named in a message, if it looks like one.
func firstWord(verb string) string {
	if verb == "" || strings.ContainsFunc(verb, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return ""
	}
	return verb + " "
}

package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// askedAbout says why a command line is asked about that nothing allows: what
// its commands do that nothing covers. There is at least one reason.
func (f *Facts) askedAbout() (out []gatelatch.Reason) {
	u := f.shell
	add := func(r gatelatch.Reason) {
		if len(out) < maxHits && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	effects := f.buffers().effects[:0]
	defer func() { f.buf.effects = effects }()
	for _, e := range u.facts.Effects {
		short, some := u.short[e.Command]
		switch {
		case !u.facts.Readable():
			if e.Action == shell.Unknown {
				effects = append(effects, e)
			}
		case e.Command < 0, slices.Contains(u.open, e.Command) && !f.onlyLooks(e) && (!some || slices.Contains(short, e)):
			effects = append(effects, e)
		}
	}
	for i, e := range effects {
		if message := f.tell(effects, i); message != "" {
			add(gatelatch.Reason{
				Effect: gatelatch.Ask, Layer: layerDefault, Field: "command", Message: message,
				Part: u.part(e.Start, e.End), Start: e.Start, End: e.End,
			})
		}
	}
	for _, i := range u.open {
		if r := u.guards[i]; r != nil {
			add(*r)
		}
		if from, to, ahead := u.ahead(i); ahead {
			add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Field: "command", Part: u.part(from, to), Start: from, End: to,
				Message: "a rule covers the command, but not what stands in front of it: " + clip(u.part(from, to))})
		}
		if dir := u.facts.Commands[i].Dir; !f.runsHere(dir) && !f.harmless(i) {
			at := u.hitOf(i)
			add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Message: "it runs outside the project, in " + cmp.Or(clip(dir), "a folder that can't be known"),
				Field: at.field, Part: at.part, Start: at.start, End: at.end})
		}
	}
	for _, i := range u.open {
		if len(out) == 0 {
			at, message := u.hitOf(i), noRule
			if !u.reads && f.harmless(i) {
				message += ", and the rules do not say exec: {reads: allow}"
			}
			add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Message: message, Field: at.field, Part: at.part, Start: at.start, End: at.end})
		}
	}
	if len(out) == 0 {
		add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Field: "command", Message: cmp.Or(f.unmatched, noRule)})
	}
	return out
}

// ahead returns what stands in front of a command whose words a rule has, and
// that does nothing else which would be told.
func (u *shellUse) ahead(command int) (from, to int, ok bool) {
	c := &u.facts.Commands[command]
	short, some := u.short[command]
	if !some || len(short) > 0 || len(c.Words) == 0 || c.Start >= c.Words[0].Start {
		return 0, 0, false
	}
	return c.Start, c.Start + len(strings.TrimRight(u.part(c.Start, c.Words[0].Start), " \t")), true
}

// tell describes the effect at i, or returns "" where another says more. What a
// program does in general is told in one sentence, and only where no word of
// the command says to what it does that.
func (f *Facts) tell(effects []shell.Effect, i int) string {
	if !general(effects[i]) {
		return f.describe(effects[i])
	}
	var verbs []string
	for j, e := range effects {
		switch same := e.Command == effects[i].Command && e.Detail == effects[i].Detail && e.Start == effects[i].Start && e.End == effects[i].End; {
		case !general(e) || !same || particular(effects, e) || slices.Contains(verbs, does[e.Action]):
		case len(verbs) == 0 && j != i:
			return ""
		default:
			verbs = append(verbs, does[e.Action])
		}
	}
	switch n := len(verbs); n {
	case 0:
		return ""
	case 1:
		return verbs[0] + ": " + clip(effects[i].Detail)
	default:
		return strings.Join(verbs[:n-1], ", ") + " and " + verbs[n-1] + ": " + clip(effects[i].Detail)
	}
}

// general reports whether the effect is one of the program, not of a word.
func general(e shell.Effect) bool {
	return e.Action != shell.Unknown && (e.Code == "COMMAND" || e.Code == "MODE" || e.Code == "OPTION")
}

// particular reports whether a word of the same command says what e is done to,
// or which option does it.
func particular(effects []shell.Effect, e shell.Effect) bool {
	return slices.ContainsFunc(effects, func(o shell.Effect) bool {
		return o.Command == e.Command && o.Action == e.Action && !o.Around() && (!general(o) || o.Code == "OPTION" && e.Code != "OPTION")
	})
}

// describe says what an effect is, for people. It begins with no word of the
// command: what is shown may begin with a capital.
func (f *Facts) describe(e shell.Effect) string {
	what := clip(cmp.Or(e.Path, e.Detail))
	switch file := e.Action == shell.Reads || e.Action == shell.Writes || e.Action == shell.Deletes; {
	case e.Action == shell.Unknown:
		return unknown(e)
	case e.Action == shell.Executes && e.Around():
		return "runs something else because of " + what
	case e.Code == "SCRIPT_FROM_INPUT":
		return "runs what it gets as input: " + what
	case what == "" && file:
		what = "what can't be known"
	case what == "":
		return strings.TrimSuffix(doesTo[e.Action], ":") + ", but it can't be known which"
	case e.Below:
		what = "files in " + what
	case file && e.Path == "" && f.call.Dir == "":
		what += ", but the agent did not say in which folder"
	}
	if e.Action == shell.Reads && e.Path != "" {
		what += ", which is not inside the project"
	}
	return doesTo[e.Action] + " " + what
}

// does is what a program does, doesTo what is done to something.
var (
	does = map[shell.Action]string{
		shell.Reads: "reads files", shell.Writes: "writes files", shell.Deletes: "deletes files", shell.Executes: "runs code that the line does not show",
		shell.Connects: "connects to other machines", shell.AsksService: "asks a service", shell.ChangesService: "changes something in a service",
		shell.ShowsSecret: "shows what may be secret", shell.GainsRights: "gains or gives rights", shell.ActsOnSystem: "acts on other processes or the machine",
		shell.ChangesRepository: "changes the repository", shell.ChangesShell: "changes the shell for what comes after",
	}
	doesTo = map[shell.Action]string{
		shell.Reads: "reads", shell.Writes: "writes", shell.Deletes: "deletes", shell.Executes: "runs code:",
		shell.Connects: "connects to", shell.AsksService: "asks a service:", shell.ChangesService: "changes something in a service:",
		shell.ShowsSecret: "shows what may be secret:", shell.GainsRights: "gains or gives rights:", shell.ActsOnSystem: "acts on other processes or the machine:",
		shell.ChangesRepository: "changes the repository:", shell.ChangesShell: "changes the shell for what comes after:",
	}
)

// unknown says why nobody knows what a command does.
func unknown(e shell.Effect) string {
	what := clip(e.Detail)
	code := strings.ToLower(strings.ReplaceAll(e.Code, "_", " "))
	text := "what this does can't be known (" + code + ")"
	switch e.Code {
	case "UNKNOWN_PROGRAM":
		return "nobody described the program " + what + ": it may do anything"
	case "UNKNOWN_COMMAND", "UNKNOWN_OPTION", "UNKNOWN_OPERAND", "COMMAND", "MODE", "OPTION", "OPERAND":
		text = "nobody described what this does"
	case "NO_OPERAND":
		text = "nobody described what this does without more words"
	case "UNCERTAIN_OPERANDS":
		text = "it can't be known which word is which"
	case "OPTION_CHANGES", "OPERAND_CHANGES":
		text = "changes something"
	case "MAY_BE_OPTION":
		text = "this may turn out to be an option"
	case "UNKNOWN_SCRIPT":
		text = "nobody knows what this script does"
	case "SYNTAX", "PARSER_FAILED", "AMBIGUOUS_TEXT", "TOO_LARGE", "TOO_DEEP", "TOO_MANY", "NO_COMMAND":
		return "the command can't be read: " + cmp.Or(what, code)
	case "GIT_CONFIG_UNKNOWN":
		return "the repository's configuration can't be read, and may name programs that Git runs"
	}
	return strings.TrimSuffix(text+": "+what, ": ")
}

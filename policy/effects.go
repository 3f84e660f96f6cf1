package policy

import (
	"cmp"
	"fmt"
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
	for _, e := range u.facts.Effects {
		short, some := u.short[e.Command]
		switch {
		case !u.facts.Readable():
			if e.Action == shell.Unknown {
				add(f.effectReason(e))
			}
		case e.Command < 0, slices.Contains(u.open, e.Command) && !f.onlyLooks(e) && (!some || slices.Contains(short, e)):
			add(f.effectReason(e))
		}
	}
	for _, i := range u.open {
		if r := u.guards[i]; r != nil {
			add(*r)
		}
		if dir := u.facts.Commands[i].Dir; !f.runsHere(dir) && !f.harmless(i) {
			at := u.hitOf(i)
			add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Message: "it runs outside the project, in " + cmp.Or(clip(dir), "a folder that can't be known"),
				Field: at.field, Part: at.part, Start: at.start, End: at.end})
		}
	}
	for _, i := range u.open {
		if len(out) == 0 {
			at := u.hitOf(i)
			add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Message: noRule, Field: at.field, Part: at.part, Start: at.start, End: at.end})
		}
	}
	if len(out) == 0 {
		add(gatelatch.Reason{Effect: gatelatch.Ask, Layer: layerDefault, Field: "command", Message: cmp.Or(f.unmatched, noRule)})
	}
	return out
}

func (f *Facts) effectReason(e shell.Effect) gatelatch.Reason {
	return gatelatch.Reason{
		Effect: gatelatch.Ask, Layer: layerDefault, Field: "command", Message: f.describe(e),
		Part: f.shell.part(e.Start, e.End), Start: e.Start, End: e.End,
	}
}

// describe says what an effect is, for people.
func (f *Facts) describe(e shell.Effect) string {
	what := clip(cmp.Or(e.Path, e.Detail))
	switch {
	case e.Action == shell.Unknown:
		return unknown(e)
	case e.Action == shell.Executes && e.Around():
		return what + " makes it run something else"
	case e.Code == "COMMAND" || e.Code == "MODE" || e.Code == "OPTION":
		return strings.TrimSpace(clip(e.Detail) + " " + does[e.Action])
	case what == "":
		what = "what can't be known"
	case e.Below:
		what = "files in " + what
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
		shell.Reads: "reads", shell.Writes: "writes", shell.Deletes: "deletes", shell.Executes: "runs code that the line does not show:",
		shell.Connects: "connects to", shell.AsksService: "asks a service:", shell.ChangesService: "changes something in a service:",
		shell.ShowsSecret: "shows what may be secret:", shell.GainsRights: "gains or gives rights:", shell.ActsOnSystem: "acts on other processes or the machine:",
		shell.ChangesRepository: "changes the repository:", shell.ChangesShell: "changes the shell for what comes after:",
	}
)

// unknown says why nobody knows what a command does.
func unknown(e shell.Effect) string {
	what := clip(e.Detail)
	switch e.Code {
	case "UNKNOWN_PROGRAM":
		return what + " is a program that nobody described: it may do anything"
	case "UNKNOWN_COMMAND", "UNKNOWN_OPTION", "UNKNOWN_OPERAND":
		return "nobody described what this does: " + what
	case "MAY_BE_OPTION":
		return "may turn out to be an option: " + what
	case "SYNTAX", "PARSER_FAILED", "AMBIGUOUS_TEXT", "TOO_LARGE", "TOO_DEEP", "TOO_MANY", "NO_COMMAND":
		return strings.TrimSuffix("the command can't be read: "+cmp.Or(what, strings.ToLower(strings.ReplaceAll(e.Code, "_", " "))), ": ")
	case "GIT_CONFIG_UNKNOWN":
		return "the repository's configuration can't be read, and may name programs that Git runs"
	}
	return strings.TrimRight(fmt.Sprintf("what this does can't be known (%s): %s", strings.ToLower(strings.ReplaceAll(e.Code, "_", " ")), what), ": ")
}

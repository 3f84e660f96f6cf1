package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/watch"
)

// printCall prints a card. Its texts come escaped from the gateway, so nothing
// an agent wrote reaches the terminal as a control character.
func printCall(w io.Writer, c api.Call) {
	fmt.Fprintf(w, "%s\n%s · %s · %s\n\n", c.Card.Says, c.ID, c.Tool, c.Session.Name)
	for _, b := range c.Card.Blocks {
		printBlock(w, b)
	}
	for _, line := range watch.Touched(c, 100) {
		fmt.Fprintln(w, line)
	}
	if c.Dir != "" {
		fmt.Fprintf(w, "in       %s\n", c.Dir)
	}
	var told []string
	for _, r := range c.Verdict.Reasons {
		line := fmt.Sprintf("%-8s %s%s", r.Effect, r.Message, ruleOf(r))
		if !slices.Contains(told, line) { // the same of another part
			fmt.Fprintln(w, line)
			told = append(told, line)
		}
	}
	for _, e := range c.Verdict.Errors {
		fmt.Fprintf(w, "error    %s\n", e)
	}
	switch {
	case c.Edited != nil:
		fmt.Fprintf(w, "edited   by %s, %s ago; this is what would run\n", actorName(c.Edited.By), shortAge(c.Edited.At))
	case c.Replaced:
		fmt.Fprintln(w, "replaced a hook replaced the agent's input; this is what would run")
	}
	if why := neverRemembered(c.Remember); why != "" {
		fmt.Fprintf(w, "remember no: %s\n", why)
	} else {
		for _, r := range c.Remember {
			fmt.Fprintf(w, "remember %s\n", suggestion(r))
			printOffers(w, r)
		}
	}
	printForeign(w, "the agent says (not checked)", c.Claim)
	printForeign(w, "you asked, as its host tells", c.Context.Prompt)
	printForeign(w, "asked by a sub-agent", c.Context.Via)
	printForeign(w, "the agent said before", c.Context.Said)
	fmt.Fprintf(w, "digest   %s\nstate    %s\n", c.Digest, stateLine(c))
	printRun(w, c)
}

// neverRemembered is why the call can't be remembered, not even for the
// session, or "".
func neverRemembered(all []api.Remember) string {
	if len(all) == 0 || slices.ContainsFunc(all, func(r api.Remember) bool { return r.Refused == "" }) {
		return ""
	}
	return all[0].Refused
}

// suggestion says what "allow --for" would remember.
func suggestion(r api.Remember) string {
	if r.Refused != "" {
		return fmt.Sprintf("--for %-7s no: %s", r.Scope, r.Refused)
	}
	return fmt.Sprintf("--for %-7s %s", r.Scope, r.Match)
}

// printOffers says what else could be remembered with --match.
func printOffers(w io.Writer, r api.Remember) {
	for _, o := range r.Offers {
		if o.Match != r.Match {
			fmt.Fprintf(w, "              or %s\n", o.Match)
		}
		if len(o.Also) > 0 {
			fmt.Fprintf(w, "                 also allows: %s\n", strings.Join(o.Also, ", "))
		}
	}
}

// printRun says what became of an allow.
func printRun(w io.Writer, c api.Call) {
	if c.Lapses != nil {
		fmt.Fprintf(w, "lapses   %s, unless the agent comes for it\n", moment(*c.Lapses))
	}
	if c.Consumed == nil {
		return
	}
	fmt.Fprintf(w, "began    %s\n", moment(*c.Consumed))
	if o := c.Outcome; o != nil {
		fmt.Fprintf(w, "outcome  %s, %s\n", outcomes[o.Kind], moment(o.At))
	}
}

var outcomes = map[string]string{
	string(gatelatch.Done):    "done",
	string(gatelatch.Failed):  "failed",
	string(gatelatch.Unknown): "unknown: nobody reported, so it may have run",
}

// printForeign prints what an agent wrote so that no line of it can be taken
// for one of ours.
func printForeign(w io.Writer, label, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(w, "%s:\n", label)
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "  | %s\n", strings.TrimRight(line, "\n"))
	}
}

func ruleOf(r api.Reason) string {
	switch {
	case r.Rule == "":
		return ""
	case r.Source == "":
		return fmt.Sprintf(" [%s]", r.Rule)
	}
	return fmt.Sprintf(" [%s, %s]", r.Rule, r.Source)
}

// stateWord is the state, and which kind of denial.
func stateWord(c api.Call) string {
	switch d := c.Decided; {
	case d == nil:
	case d.Interrupt:
		return c.State + " and interrupted"
	case d.Reply:
		return c.State + " with a reply"
	}
	return c.State
}

func stateLine(c api.Call) string {
	s := stateWord(c)
	if d := c.Decided; d != nil {
		s += " by " + byName(d) + grantOf(d) + choiceOf(d)
		if d.Note != "" {
			s += ": " + strings.ReplaceAll(d.Note, "\n", " ")
		}
		for _, q := range slices.Sorted(maps.Keys(d.Answers)) {
			s += fmt.Sprintf("\n  answered %q with %q", q, d.Answers[q])
		}
	}
	if c.Batch.Size > 1 {
		s += fmt.Sprintf(" (call %d of %d; %d wait)", c.Batch.Position, c.Batch.Size, c.Batch.Waiting)
	}
	return s
}

func grantOf(d *api.Decided) string {
	switch {
	case d.Grant == "":
		return ""
	case d.By.Kind == string(gatelatch.PersonActor):
		return ", remembered as " + d.Grant
	}
	return ", by the grant " + d.Grant
}

func choiceOf(d *api.Decided) string {
	if d.Choice == "" {
		return ""
	}
	return ", " + d.Choice
}

func printBlock(w io.Writer, b api.Block) {
	if b.Title != "" {
		fmt.Fprintf(w, "  %s\n", b.Title)
	}
	var text strings.Builder
	for _, s := range b.Segments {
		text.WriteString(s.Text)
	}
	if text.Len() > 0 {
		for line := range strings.Lines(text.String()) {
			fmt.Fprintf(w, "    %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	for _, l := range b.Lines {
		fmt.Fprintf(w, "  %s %s\n", l.Op, l.Text)
	}
	for _, f := range b.Fields {
		printForeign(w, "  "+f.Name, f.Text)
	}
	for _, q := range b.Questions {
		printForeign(w, "  question", q.Question)
		for _, o := range q.Options {
			fmt.Fprintf(w, "      - %s: %s\n", o.Label, o.Description)
		}
	}
	fmt.Fprintln(w)
}

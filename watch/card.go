package watch

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch/api"
)

// A card is one call in full, as lines. Nothing of it depends on the time, so
// that it changes only when the call does.
type card struct {
	lines []Line
	need  int // lines from the top that must be seen before an allow
	why   int // how many of them, at their end, say why it was asked
}

// Edges stand before each line that an agent wrote: solid for what would run,
// dashed for its prose. A line that only goes on has another one.
var (
	solid, solidOn   = Span{"│ ", Dim}, Span{"│›", Dim}
	dashed, dashedOn = Span{"┆ ", Dim}, Span{"┆›", Dim}
)

// sheet collects the lines of a card.
type sheet struct {
	width int
	lines []Line
}

// ours adds words of the gateway, broken at blanks.
func (s *sheet) ours(indent string, spans ...Span) {
	w := wrapper{width: s.width, next: Span{indent, 0}, words: true}
	s.lines = append(s.lines, w.wrap(spans)...)
}

// theirs adds what an agent wrote, character by character.
func (s *sheet) theirs(first, next Span, spans ...Span) {
	s.lines = append(s.lines, wrapper{width: s.width, first: first, next: next}.wrap(spans)...)
}

func layCard(c api.Call, width int) card {
	s := &sheet{width: width}
	says := Bold
	if _, grave := dangerOf(c); grave {
		says |= Grave
	}
	s.ours("", Span{c.Card.Says, says})
	s.ours("", Span{whereOf(c), Dim})
	s.touched(c)
	for _, b := range c.Card.Blocks {
		s.block(b)
	}
	asked := len(s.lines)
	s.reasons(c)
	s.bound(c)
	out := card{need: len(s.lines), why: len(s.lines) - asked}
	s.prose("The agent says (not checked)", c.Claim)
	s.prose("You asked, as the agent's host tells it", c.Context.Prompt)
	s.prose("Asked by a sub-agent (its words, not checked)", c.Context.Via)
	s.prose("The agent said before (not checked)", c.Context.Said)
	out.lines = s.lines
	return out
}

// whereOf says which tool, in whose session, where, and which of its batch.
func whereOf(c api.Call) string {
	parts := []string{c.Tool, cmp.Or(c.Session.Name, c.Session.ID)}
	add := func(text string) { parts = append(parts, text) }
	if c.Session.Host != "" {
		add("on " + c.Session.Host)
	}
	if c.Session.Project != "" {
		add("project " + c.Session.Project)
	}
	if c.Dir != "" && c.Dir != c.Session.Project {
		add("in " + c.Dir)
	}
	if c.Mode != nil {
		add("mode " + c.Mode.Mode)
	}
	if c.Batch.Size > 1 {
		add(fmt.Sprintf("call %d of %d of a batch, nothing runs until all are settled", c.Batch.Position, c.Batch.Size))
	}
	return strings.Join(parts, " · ")
}

// Touched tells the six effects of a call in lines of text.
func Touched(c api.Call, width int) (out []string) {
	s := &sheet{width: width}
	s.touched(c)
	for _, l := range s.lines {
		out = append(out, l.String())
	}
	return out
}

// touched tells the six effects. None is said, so that silence can be trusted.
func (s *sheet) touched(c api.Call) {
	if c.Kind == "question" || c.Kind == "plan" {
		return
	}
	if len(c.Card.Touches) == 0 && c.Card.More == 0 {
		s.ours("  ", Span{"Touches: not known", Close})
		return
	}
	six, known := effectsOf(c.Card)
	var line []Span
	for i, e := range six {
		if i > 0 {
			line = append(line, Span{" · ", Dim})
		}
		switch style := Style(0); {
		case len(e.things) > 0:
			if e.close {
				style = Close | Bold
			}
			line = append(line, Span{e.name + " " + count(len(e.things), e.noun) + ": " + e.names(c.Session.Project), style})
		case known:
			line = append(line, Span{e.name + " none", Dim})
		default:
			line = append(line, Span{e.name + " not known", 0})
		}
	}
	s.ours("  ", line...)
	if also := besides(c.Card); len(also) > 0 {
		s.ours("  ", Span{"Also " + strings.Join(also, ", ") + ".", Close})
	}
}

func (s *sheet) reasons(c api.Call) {
	switch {
	case c.Edited != nil:
		s.ours("  ", Span{"Edited by " + nameOf(c.Edited.By) + "; this is what would run.", Close})
	case c.Replaced:
		s.ours("  ", Span{"A local hook replaced the agent's input; this is what would run.", Close})
	}
	var told []string
	for _, r := range c.Verdict.Reasons {
		if key := r.Effect + r.Message + r.Part + r.Rule; !slices.Contains(told, key) {
			told = append(told, key)
			s.reason(r)
		}
	}
	for _, e := range c.Verdict.Errors {
		s.ours("  ", Span{"Error: " + e, Close})
	}
}

var because = map[string]string{"ask": "Asked because: ", "deny": "Denied because: ", "allow": "Allowed because: "}

func (s *sheet) reason(r api.Reason) {
	style := Style(0)
	if r.Effect == "allow" {
		style = Dim
	}
	line := []Span{{cmp.Or(because[r.Effect], r.Effect+": "), style | Bold}}
	switch before, after, found := strings.Cut(r.Message, r.Part); {
	case r.Part == "":
		line = append(line, Span{r.Message, style})
	case found:
		line = append(line, Span{before, style}, Span{r.Part, style | Under}, Span{after, style})
	default:
		line = append(line, Span{r.Part, style | Under}, Span{" " + r.Message, style})
	}
	if r.Rule != "" || r.Layer != "default" {
		from := slices.DeleteFunc([]string{r.Rule, r.Layer + " layer", r.Source}, func(s string) bool { return s == "" })
		line = append(line, Span{" [" + strings.Join(from, ", ") + "]", Dim})
	}
	s.ours("  ", line...)
}

// prose adds what somebody wrote, set apart.
func (s *sheet) prose(label, text string) {
	if text == "" {
		return
	}
	s.ours("", Span{label + ":", Dim})
	s.theirs(dashed, dashedOn, Span{text, 0})
}

func nameOf(a api.Actor) string { return cmp.Or(a.Name, a.Kind) }

// whose names a session by its project, or its agent.
func whose(s api.Session) string {
	if s.Project == "" {
		return cmp.Or(s.Name, s.ID)
	}
	return path.Base(s.Project)
}

package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// View is the whole screen: as many lines as it has rows, none too wide.
func (m *Model) View(now time.Time) []Line {
	var out []Line
	switch {
	case m.tooSmall():
		out = wrapper{width: max(1, m.width), words: true}.wrap([]Span{{fmt.Sprintf("%d wait. Make this window larger.", m.waiting()), 0}})
	case m.help:
		out = m.helpLines()
	default:
		out = m.inbox(now)
	}
	for len(out) < m.height {
		out = append(out, nil)
	}
	return out[:m.height]
}

func (m *Model) inbox(now time.Time) []Line {
	list, body := m.rows()
	out := append([]Line{m.title()}, m.listLines(list, now)...)
	out = append(out, Line{{strings.Repeat("─", m.width), Dim}})
	var below []Line
	if m.prompt != nil {
		below = m.promptLines()
	}
	switch _, ok := m.current(); {
	case ok:
		out = append(out, m.bodyLines(body-len(below))...)
	case m.live:
		out = append(out, Line{{"Nothing waits.", 0}})
	}
	for len(out) < 2+list+body-len(below) {
		out = append(out, nil)
	}
	out = append(out, below...)
	return append(out, cut(m.statusLine(), m.width), cut(m.keyLine(now), m.width))
}

func (m *Model) title() Line {
	l := Line{{"gatelatch", Bold}, {fmt.Sprintf("  %d waiting", m.waiting()), 0}}
	add := func(text string, style Style) { l = append(l, Span{" · " + text, style}) }
	switch {
	case m.live:
		add("live", Dim)
	case m.status.Version == "":
		add("connecting", Close)
	default:
		add("no connection, decisions are off", Close|Bold)
	}
	if p := m.status.Paused; p != nil {
		add("stopped by "+nameOf(p.By)+", everything is denied", Grave|Bold)
	}
	if m.status.Notice != "" {
		add(m.status.Notice, Close)
	}
	return cut(l, m.width)
}

// listLines are the rows of the list in sight.
func (m *Model) listLines(rows int, now time.Time) []Line {
	var out []Line
	for i := m.first; i < min(len(m.order), m.first+rows); i++ {
		out = append(out, m.row(i, now))
	}
	for len(out) < rows {
		out = append(out, nil)
	}
	return out
}

// row is a call in one line. It may be cut: the card has all of it.
func (m *Model) row(i int, now time.Time) Line {
	c := m.calls[m.order[i]]
	mark, style := "  ", Style(0)
	if c.ID == m.selected {
		mark, style = "> ", Bold
	}
	risk := Span{"  ", style}
	if needsALook(c) {
		risk = Span{"! ", Close | Bold}
	}
	place := ""
	if c.Batch.Size > 1 {
		place = fmt.Sprintf(" (%d/%d)", c.Batch.Position, c.Batch.Size)
	}
	age := Span{fmt.Sprintf("%6s ", ageOf(c, now)), Dim}
	if c.State != pending {
		age, style = Span{outcome(c) + ": ", Bold}, style|Dim
	}
	return cut(Line{{mark, style}, risk, age, {whose(c.Session) + place + "  ", Dim}, {c.Card.Says, style}, {"  " + c.Card.Subject, Dim}}, m.width)
}

func ageOf(c api.Call, now time.Time) string {
	switch d := max(0, now.Sub(c.Created)); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
}

// statusLine says what became of the last key, or what is to be known now.
func (m *Model) statusLine() Line {
	c, ok := m.current()
	switch {
	case m.news != nil:
		return m.news
	case m.busy:
		return Line{{"Sending…", Dim}}
	case !ok:
		return nil
	case c.State != pending:
		return Line{{"Already decided: " + outcome(c) + ".", Bold}}
	case c.Brief:
		return Line{{"Reading it…", Dim}}
	case !m.read:
		return Line{{"Allow waits until you have seen all of it: space shows the rest.", Close | Bold}}
	case c.Batch.Waiting > 1:
		return Line{{fmt.Sprintf("%d calls of this batch wait; nothing runs until all are settled.", c.Batch.Waiting), Dim}}
	}
	return Line{{"digest " + c.Digest, Dim}}
}

// keyLine names the keys; those that would do nothing now are dim.
func (m *Model) keyLine(now time.Time) Line {
	c, ok := m.current()
	if m.prompt != nil {
		return Line{{"Enter", Bold}, {" sends  ", 0}, {"Esc", Bold}, {" goes back", 0}}
	}
	l := Line{{"?", Bold}, {" keys  ", 0}}
	for _, k := range []struct {
		key  Key
		does string
	}{{"a", yes[c.Kind]}, {"d", "deny"}, {"D", "why"}, {"s", "session"}, {"p", "project"}, {"A", "always"}, {"e", "edit"}} {
		switch {
		case !ok || !acts[k.key].isFor(c.Kind):
		case m.armed(now) && m.off(c, acts[k.key]) == "":
			l = append(l, Span{string(k.key), Bold}, Span{" " + k.does + "  ", 0})
		default:
			l = append(l, Span{string(k.key) + " " + k.does + "  ", Dim})
		}
	}
	return append(l, Span{"q", Bold}, Span{" quit", 0})
}

var yes = map[string]string{"permission": "allow", "question": "answer", "plan": "approve"}

func (m *Model) helpLines() []Line {
	out := []Line{{{"Keys", Bold}}}
	add := func(key, does string) {
		out = append(out, wrapper{width: m.width, next: Span{"          ", 0}, words: true}.wrap([]Span{{fmt.Sprintf("%-10s", key), Bold}, {does, 0}})...)
	}
	add("j k ↓ ↑", "next and previous call")
	add("space b", "page through the call")
	for _, k := range []Key{"a", "c", "s", "p", "A", "d", "D", "r", "X", "e"} {
		add(string(k), acts[k].does)
	}
	add("? q", "this help; quit")
	return append(out, nil, Line{{"Any key goes back.", Dim}})
}

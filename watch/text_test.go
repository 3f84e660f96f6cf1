package watch

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

// Whatever an agent writes, the screen has all of it and nothing that a
// terminal would obey.
func FuzzTheirs(f *testing.F) {
	f.Add("rm -rf /\x1b[2Ja\u202eb\t\xff\x9b31m 漢字 e\u0301 ⟨U+202E⟩\n\n\n\n\nx", 30)
	f.Fuzz(func(t *testing.T, raw string, w int) {
		w = leastWidth + max(0, w)%100
		s := &sheet{width: w}
		shown := render.Escape(raw)
		s.theirs(solid, solidOn, Span{shown, 0})
		var back strings.Builder
		for i, l := range s.lines {
			if l.width() > w {
				t.Fatalf("%d columns of %d: %q", l.width(), w, l)
			}
			text := l.String()
			if i > 0 && strings.HasPrefix(text, solid.Text) {
				back.WriteByte('\n')
			}
			back.WriteString(strings.TrimPrefix(strings.TrimPrefix(text, solid.Text), solidOn.Text))
		}
		if want := strings.ReplaceAll(shown, "\t", "    "); back.String() != want {
			t.Fatalf("%q came out as %q", want, back.String())
		}
		s.ours("  ", Span{raw, Bold})
		for _, l := range append(s.lines, cut(Line{{raw, 0}, {raw, Bold}}, w)) {
			if strings.ContainsFunc(l.String(), func(r rune) bool { return hidden(r) || r == '\n' }) || l.width() > w {
				t.Fatalf("%q reaches the terminal, %d columns of %d", l, l.width(), w)
			}
		}
	})
}

func TestUnchangedLinesOfAFileAreCounted(t *testing.T) {
	t.Parallel()
	var lines []api.Line
	for i := range 40 {
		lines = append(lines, api.Line{Op: " ", Old: i + 1, New: i + 1, Text: "same"})
	}
	lines[20].Op = "+"
	for note, want := range map[string]int{"file": 1 + 2*around + 2, "": 40} {
		s := &sheet{width: 80}
		s.diff(api.Block{Lines: lines, Note: note})
		if len(s.lines) != want {
			t.Errorf("%q: %d lines", note, len(s.lines))
		}
	}
}

func TestAFormShowsEveryField(t *testing.T) {
	t.Parallel()
	s := &sheet{width: 80}
	s.block(api.Block{Kind: "form", Title: "in", Bytes: 5000, Note: "many", Places: 2, Fields: []api.Field{{Name: "to", Text: "all"}, {Name: "body", Text: "hi\nyou"}}})
	var out []string
	for _, l := range s.lines {
		out = append(out, l.String())
	}
	want := []string{"in · stands in the file more than once, so it may fail · 2 places · 5000 bytes", "to:", "│ all", "body:", "│ hi", "│ you"}
	if !reflect.DeepEqual(out, want) {
		t.Errorf("%q", out)
	}
}

func TestKeysOfATerminal(t *testing.T) {
	t.Parallel()
	var k Keys
	feed := func(s string, want ...any) {
		t.Helper()
		if got := k.Feed([]byte(s)); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v", s, got)
		}
	}
	feed("aä\r\x7f\x03", Key("a"), Key("ä"), KeyEnter, KeyBackspace, KeyQuit)
	feed("\x1b[A\x1bOB\x1b[6~\x1b[I\x1b[O", KeyUp, KeyDown, KeyPageDown, KeyFocus)
	feed("\x1b[1;5D\x1ba\x1b\x1bd", Key("d")) // with modifiers: no keys of ours, but what follows is
	feed("\x1b[")
	feed("D") // a split sequence is no D
	feed("\xc3")
	feed("\xa4", Key("ä"))
	feed("\x1b[200~a\x1b[2")
	feed("01~d", Pasted("a"), Key("d"))
	feed("\x1b")
	if !k.Open() {
		t.Error("an escape is not open")
	}
	if got := k.Flush(); len(got) != 1 || got[0] != KeyEscape {
		t.Errorf("%v", got)
	}
	if k.Open() || k.Flush() != nil {
		t.Error("it is still open")
	}
}

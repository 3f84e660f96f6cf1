package watch

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// What a terminal is told. The second screen keeps what was there before;
// pasted text and focus are reported; letters stay in the order in which they
// run, also where a terminal would turn those of some scripts around.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1004h\x1b[8l\x1b[2J"
	leaveScreen = "\x1b[0m\x1b[8h\x1b[?1004l\x1b[?2004l\x1b[?25h\x1b[?1049l"
)

// screen is a terminal that is drawn on.
type screen struct {
	in, out *os.File
	color   bool
	before  *term.State
	drawn   []Line
}

// Usable reports whether there is a terminal that can be drawn on.
func Usable(in, out *os.File, kind string) bool {
	return term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) && kind != "" && kind != "dumb"
}

// Interactive reports whether somebody types there.
func Interactive(in *os.File) bool { return term.IsTerminal(int(in.Fd())) }

func (s *screen) enter() (err error) {
	if s.before, err = term.MakeRaw(int(s.in.Fd())); err != nil {
		return err
	}
	s.drawn = nil
	_, err = s.out.WriteString(enterScreen)
	return err
}

func (s *screen) leave() {
	_, _ = s.out.WriteString(leaveScreen)
	_ = term.Restore(int(s.in.Fd()), s.before)
}

func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil {
		return 80, 24
	}
	return width, height
}

// draw writes the rows that changed.
func (s *screen) draw(lines []Line) error {
	var b strings.Builder
	if len(s.drawn) != len(lines) {
		b.WriteString("\x1b[2J")
		s.drawn = make([]Line, len(lines))
	}
	for i, l := range lines {
		if slices.Equal(l, s.drawn[i]) {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H", i+1)
		for _, p := range l {
			b.WriteString("\x1b[0" + s.codes(p.Style) + "m" + p.Text)
		}
		b.WriteString("\x1b[0m\x1b[K")
	}
	s.drawn = lines
	if b.Len() == 0 {
		return nil
	}
	_, err := s.out.WriteString(b.String())
	return err
}

var looks = []struct {
	style       Style
	code, color string
}{
	{Bold, ";1", ""},
	{Dim, ";2", ""},
	{Under, ";4", ""},
	{Reverse, ";7", ""},
	{Close, "", ";33"},
	{Grave, "", ";31"},
	{Added, "", ";32"},
	{Removed, "", ";31"},
}

func (s *screen) codes(style Style) (out string) {
	for _, l := range looks {
		if style&l.style == 0 {
			continue
		}
		out += l.code
		if s.color {
			out += l.color
		}
	}
	return out
}

package render

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawn(b Block) string {
	var out strings.Builder
	for _, l := range b.Lines {
		fmt.Fprintf(&out, "%s%d,%d %s|", l.Op, l.Old, l.New, l.Text)
	}
	return out.String()
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, after, want string }{
		"nothing":            {"", "", ""},
		"the same":           {"a\nb", "a\nb", " 1,1 a| 2,2 b|"},
		"a line":             {"a\nb\nc", "a\nB\nc", " 1,1 a|-2,0 b|+0,2 B| 3,3 c|"},
		"added":              {"", "a\nb", "+0,1 a|+0,2 b|"},
		"removed":            {"a\nb", "", "-1,0 a|-2,0 b|"},
		"a line break added": {"a", "a\n", " 1,1 a|+0,2 |"},
		"only a line break":  {"", "\n", "+0,1 |+0,2 |"},
		"trailing blank":     {"a", "a ", "-1,0 a|+0,1 a⟨·×1⟩|"},
		"CR":                 {"a\nb", "a\r\nb", "-1,0 a|+0,1 a⟨CR⟩| 2,2 b|"},
		"hidden":             {"a", "a\u200b", "-1,0 a|+0,1 a⟨U+200B⟩|"},
		"a tab":              {"\ta", "  a", "-1,0 \ta|+0,1   a|"},
	} {
		if got := drawn(diffBlock("", tt.before, tt.after)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestBigDiffIsShownWhole(t *testing.T) {
	t.Parallel()
	before := strings.Repeat("a\n", maxDiff+1)
	b := diffBlock("", before, before+"b")
	if b.Removed != maxDiff+2 || b.Added != maxDiff+2 || len(b.Lines) != 2*maxDiff+4 {
		t.Errorf("got +%d -%d in %d lines", b.Added, b.Removed, len(b.Lines))
	}
}

// Both sides can be read off the diff.
func TestDiffHoldsBothTexts(t *testing.T) {
	t.Parallel()
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "\n", "\n\n", " ", "\r", "\xff", "⟨"}), 0, 30), func(p []string) string {
		return strings.Join(p, "")
	})
	side := func(b Block, op string) string {
		var out []string
		for _, l := range b.Lines {
			if l.Op == " " || l.Op == op {
				line, err := Unescape(l.Text)
				if err != nil {
					return err.Error()
				}
				out = append(out, line)
			}
		}
		return strings.Join(out, "\n")
	}
	rapid.Check(t, func(rt *rapid.T) {
		before, after := text.Draw(rt, "before"), text.Draw(rt, "after")
		b := diffBlock("", before, after)
		if side(b, "-") != before || side(b, "+") != after {
			rt.Fatalf("%q and %q: got %q", before, after, drawn(b))
		}
	})
}

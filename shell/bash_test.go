package shell

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// shells returns the shells that agents use, each with what keeps it from
// reading start-up files.
func shells(t testing.TB) [][]string {
	t.Helper()
	var out [][]string
	for _, s := range [][]string{{"bash", "--norc", "--noprofile"}, {"zsh", "-f"}} {
		path, err := exec.LookPath(s[0])
		if err != nil {
			t.Fatalf("%v: run \"make deps\"", err)
		}
		out = append(out, append([]string{path}, s[1:]...))
	}
	return out
}

// seenBy gives each text to a real shell as arguments of a function and
// returns the words that the function got. There is nothing to run on the
// PATH, should a text turn out to be more than words.
func seenBy(t testing.TB, shell, texts []string, dir string) [][]string {
	t.Helper()
	var script strings.Builder
	script.WriteString(`p() { printf '%s\0' "$@"; printf '\1'; }` + "\n")
	for _, text := range texts {
		script.WriteString("p " + text + "\n")
	}
	cmd := exec.Command(shell[0], append(shell[1:], "-c", script.String())...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=/nonexistent", "HOME=/home/nobody", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.300q", shell[0], err, out)
	}
	var seen [][]string
	for part := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{1}), []byte{1}) {
		seen = append(seen, strings.Split(strings.TrimSuffix(string(part), "\x00"), "\x00"))
	}
	return seen
}

func check(t testing.TB, texts []string, dir string) {
	t.Helper()
	var plain []string
	var want [][]string
	for _, text := range texts {
		if words, ok := Plain(text); ok {
			plain, want = append(plain, text), append(want, words)
		}
	}
	if len(plain) == 0 {
		return
	}
	for _, sh := range shells(t) {
		if diff := cmp.Diff(want, seenBy(t, sh, plain, dir)); diff != "" {
			t.Errorf("%s sees other words: %s", sh[0], diff)
		}
	}
}

func TestRealShellsSeeThePlainWords(t *testing.T) {
	t.Parallel()
	check(t, []string{
		"ls", "ls -la ''", "a 'b c' \"d e\"", "x 'a*b' \"*\" 'x?' '{a,b}' '~' '$x' '!x'", `g "a'b" 'c"d'`, "x --a=b c=d e:f g,h i@j k%l m+n", "x 'ü' \"日本 語\"",
		`x ''a"" ""'' a''b`, "x  y   z ", "x %1 - -- + : .", "x if then do", `x "~" "#" '#' a"b c"d`, "x \"a;b&c|d(e)f<g>h\"",
	}, t.TempDir())
}

func TestRandomPlainTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	part := rapid.OneOf(
		rapid.StringMatching(`[A-Za-z0-9_@%+=:,./-]{1,6}`),
		rapid.StringMatching(`'[ -&(-~]{0,8}'`),
		rapid.StringMatching(`"[ #%-\[\]-_a-~]{0,8}"`),
		rapid.SampledFrom([]string{"'", `"`, "$", "*", "~", "=", "!", "\\", "#", "{a,b}", "`", " ", "ü", "'ü'", "''", `""`, ";", "%", "-"}),
	)
	word := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), "") })
	text := rapid.Custom(func(t *rapid.T) string {
		return "p" + " " + strings.Join(rapid.SliceOfN(word, 0, 4).Draw(t, "words"), " ")
	})
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(text, 20, 40).Draw(rt, "texts")
		check(t, texts, dir)
	})
}

func FuzzAnalyse(f *testing.F) {
	for _, srcs := range notPlain {
		for _, src := range srcs {
			if len(src) < 100 {
				f.Add(src)
			}
		}
	}
	f.Add(`ls -la 'a b' "c"`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src string) {
		begin := time.Now()
		a := Analyse(src)
		if d := time.Since(begin); d > 2*time.Second {
			t.Fatalf("took %v", d)
		}
		for _, c := range a.Commands {
			if c.Start < 0 || c.End < c.Start || c.End > len(src) || len(c.Words) == 0 {
				t.Fatalf("bad command %+v", c)
			}
		}
		if _, plain := Plain(src); plain && a.Err != "" {
			t.Fatal("plain, but can't be read")
		}
		check(t, []string{src}, dir)
	})
}

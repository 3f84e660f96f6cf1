package shell

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// expanded returns the words of the command p as they were read, if all of them
// are known.
func expanded(src string) ([]string, bool) {
	for _, c := range Read(src, Env{Dir: "/", Home: "/home/nobody"}).Commands {
		if len(c.Words) == 0 || c.Words[0].Text != "p" {
			continue
		}
		out := []string{}
		for _, w := range c.Words[1:] {
			if !w.Known() {
				return nil, false
			}
			out = append(out, w.Text)
		}
		return out, true
	}
	return nil, false
}

// Words that count as known are those that a real bash gives the command.
func TestSoakWordsAreWhatBashSees(t *testing.T) {
	t.Parallel()
	dir, sh := t.TempDir(), shells(t)[0]
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	part := func() string {
		return pick("a", "b c", "'b c'", `"b c"`, `\ `, `\\`, `\$x`, "''", `""`, "$x", `"$x"`, "${x}", "$y", `"$y"`, "${y:-z}", `"${x:-z z}"`, "${n:-d}", "${x:+k}", "{a,b}", "{a,b}{c,d}", "{1..3}",
			"{a,$x}", "{a}", "{,}", "~", "~/x", "$'\\n'", "$'a\\tb'", "$'\\x41\\101\\u00e9'", "$'a\\'b'", `"a\"b"`, `"a\$b\a"`, "'$x'", "=", "-", "--", "a=b", "a=~", "%", "é", "#a", "a#b", "$HOME", "$((1))", "$(echo q)", "$(echo 'q  r')", `"$(echo 'q  r')"`, "$(printf s)", "$e", `"$e"`, "$e''", "${#x}", "a'b'\"c\"d", "@", ",", ":", "x:y", "!")
	}
	var texts []string
	var want [][]string
	flush := func() {
		if len(texts) == 0 {
			return
		}
		if diff := cmp.Diff(want, seenInSubshells(t, sh, texts, dir)); diff != "" {
			t.Fatalf("seed %d: bash sees other words: %s", seed, diff)
		}
		texts, want = nil, nil
	}
	campaign(3000, func() {
		var b strings.Builder
		b.WriteString(pick("x=1; ", "x='a b'; ", "x='*'; x=v; ", "x=; ", "x=a; y=$x$x; ", "x=a; x+=b; ", "e=; x=e; ", "x=\"p q\" y='r'; ", "for x in f; do :; done; x=g; ", "n='m  n'; x=$n; "))
		b.WriteString("p S")
		for range r.IntN(4) {
			b.WriteString(" ")
			for range 1 + r.IntN(3) {
				b.WriteString(part())
			}
		}
		words, ok := expanded(b.String())
		if !ok {
			return
		}
		texts, want = append(texts, b.String()), append(want, words)
		if len(texts) == 500 {
			flush()
		}
	})
	flush()
}

// seenInSubshells is seenBy for texts that are more than words.
func seenInSubshells(t testing.TB, sh, texts []string, dir string) [][]string {
	t.Helper()
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = ";( " + text + "\n)"
	}
	// seenBy writes "p " in front; here that only prints a mark of its own.
	var out [][]string
	for i, words := range seenBy(t, sh, quoted, dir) {
		if i%2 == 1 {
			out = append(out, words)
		}
	}
	return out
}

// "$*" ends without a blank if the last parameters turn out to be none.
func TestJoinedParametersMayEndEarly(t *testing.T) {
	t.Parallel()
	for _, c := range Read(`set -- 'rm a' $unknown; p "$*"`, Env{Dir: "/"}).Commands {
		if c.Words[0].Text != "p" {
			continue
		}
		if w := c.Words[1]; w.Known() || len(w.Text) > len("rm a") {
			t.Errorf("it is read as %+v, but may be rm a", w)
		}
	}
}

package shell

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// disguises are ways to write a text so that it still does all that it does.
var disguises = []func(src string) string{
	func(s string) string { return "( " + s + "\n)" },
	func(s string) string { return "{ " + s + "\n}" },
	func(s string) string { return "ls; " + s },
	func(s string) string { return s + "\nls" },
	func(s string) string { return "true && { " + s + "\n}" },
	func(s string) string { return "false || { " + s + "\n}" },
	func(s string) string { return "! { " + s + "\n}" },
	func(s string) string { return "time { " + s + "\n}" },
	func(s string) string { return "echo a | { " + s + "\n}" },
	func(s string) string { return "{ " + s + "\n} | cat" },
	func(s string) string { return "{ " + s + "\n} 2>/dev/null" },
	func(s string) string { return "{ " + s + "\n} &" },
	func(s string) string { return "if true; then " + s + "\nfi" },
	func(s string) string { return "if { " + s + "\n}; then ls; fi" },
	func(s string) string { return "for i in 1 2; do " + s + "\ndone" },
	func(s string) string { return "while true; do " + s + "\nbreak; done" },
	func(s string) string { return "case a in a) " + s + "\n;; esac" },
	func(s string) string { return "f() { " + s + "\n}; f" },
	func(s string) string { return "echo \"$(" + s + "\n)\"" },
	func(s string) string { return "zq=$(" + s + "\n); echo $zq" },
	func(s string) string { return "cat <(" + s + "\n)" },
	func(s string) string { return "echo ${x:-$(" + s + "\n)}" },
	func(s string) string { return "eval " + quote(s) },
	func(s string) string { return "bash -c " + quote(s) },
	func(s string) string { return "env bash -c " + quote(s) },
	func(s string) string { return "timeout 5 nice bash -c " + quote(s) },
	func(s string) string { return "ls | xargs -n1 bash -c " + quote(s) },
	func(s string) string { return "find . -exec bash -c " + quote(s) + " \\;" },
	func(s string) string { return "zq=" + quote(s) + "; eval \"$zq\"" },
	func(s string) string { return "bash <<'END'\n" + s + "\nEND" },
	func(s string) string { return "cat <<END\n$(" + s + "\n)\nEND" },
	func(s string) string { return "[[ -n $(" + s + "\n) ]]" },
	func(s string) string { return "a=($(" + s + "\n))" },
	func(s string) string { return "# comment\n" + s },
	func(s string) string { return "  " + s + "  " },
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// campaign repeats check, usually so often. GATELATCH_SOAK says how long, or how
// often, instead.
func campaign(usual int, check func()) {
	end := time.Now()
	if s := os.Getenv("GATELATCH_SOAK"); s != "" {
		if n, err := strconv.Atoi(s); err == nil {
			usual = n
		} else if d, err := time.ParseDuration(s); err == nil {
			end = end.Add(d)
		}
	}
	for i := 0; i < usual || time.Now().Before(end); i++ {
		check()
	}
}

// SEC-46: what acts still acts in any disguise.
func TestDisguisesHideNothing(t *testing.T) {
	t.Parallel()
	for why, texts := range acts {
		for _, src := range texts {
			for i, d := range disguises {
				if text := d(src); Read(text, testEnv).ReadOnly(testScope) {
					t.Errorf("%s: disguise %d: %q counts as harmless", why, i, text)
				}
			}
		}
	}
}

func TestSoakDisguises(t *testing.T) {
	t.Parallel()
	var all []string
	for _, why := range slices.Sorted(maps.Keys(acts)) {
		all = append(all, acts[why]...)
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	campaign(3000, func() {
		src := all[random.IntN(len(all))]
		text := src
		for range 2 + random.IntN(3) {
			text = disguises[random.IntN(len(disguises))](text)
		}
		if Read(text, testEnv).ReadOnly(testScope) {
			t.Errorf("seed %d: %q counts as harmless:\n%s", seed, src, text)
		}
	})
}

// A harmless text stays so where nothing is added to it.
func TestHarmlessStaysHarmless(t *testing.T) {
	t.Parallel()
	for _, src := range harmlessTexts {
		for i, d := range disguises[:18] {
			loops := i == 14 || i == 15
			if strings.Contains(src, "<<") || loops && (strings.Contains(src, "cd ") || strings.Contains(src, "f()") || strings.Contains(src, "eval")) {
				continue // a word after the end of the document; what a loop changes is not known
			}
			if text := d(src); !Read(text, testEnv).ReadOnly(testScope) {
				t.Errorf("disguise %d: %q: %+v", i, text, Read(text, testEnv).Beyond(testScope))
			}
		}
	}
}

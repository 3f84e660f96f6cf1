package shell

import (
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

func FuzzRead(f *testing.F) {
	for _, texts := range acts {
		for _, src := range texts {
			f.Add(src)
		}
	}
	for _, src := range harmlessTexts {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		begin := time.Now()
		facts := Read(src, testEnv)
		if d := time.Since(begin); d > 2*time.Second {
			t.Fatalf("took %v", d)
		}
		for _, e := range facts.Effects {
			if e.Start < 0 || e.End < e.Start || e.End > len(src) || e.Command >= len(facts.Commands) {
				t.Fatalf("bad effect %+v", e)
			}
			if e.Code == "PARSER_FAILED" {
				t.Fatalf("panic: %s", e.Detail)
			}
		}
		harmless := facts.ReadOnly(testScope)
		if !harmless && facts.Readable() && !strings.Contains(src, "<<") && !strings.HasSuffix(src, "\\") {
			if after := Read(src+"\nls", testEnv); after.ReadOnly(testScope) {
				t.Fatal("a command behind it makes it harmless")
			}
		}
		if harmless && Analyse(src).Err != "" {
			t.Fatal("harmless, but can't be read")
		}
	})
}

// Time grows with the text, not faster.
func TestLongTextsTakeTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"ls;", "$(", "(", "{ ", "if ", "f() { ", "a<<b\n", "env ", "sh -c '", "[[ ", "case x in (", "a|", "<(", "{a,", "x=a;", "x+=a;", "for x in a b; do ", "eval ", "f() { f; };", "${a:-", "ls && ", "{a,b}", "cat *", "xargs ", "x=$x$x;", "find . -exec ", "timeout 1 ", "awk '{", "f() { f;f; }; f;"} {
		src := strings.Repeat(part, MaxSource/len(part))
		begin := time.Now()
		Read(src, testEnv)
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("%q repeated took %v", part, d)
		}
	}
}

func TestDoublingIsBounded(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"variables": "x=aaaaaaaaaaaaaaaa;" + strings.Repeat("x=$x$x;", 64) + "echo $x",
		"functions": strings.Repeat("f() { ls; };", 1) + "f0() { ls; };" + chain(40),
		"choices":   strings.Repeat("for x in a b c; do for y in a b c; do echo $x$y$x$y; done; done;", 50),
		"nested":    strings.Repeat("for x in a b c d; do ", 30) + "echo $x" + strings.Repeat("; done", 30),
		"words":     "x='a b c d e f g h';" + strings.Repeat("x=\"$x $x\";", 20) + "ls $x",
	} {
		begin := time.Now()
		Read(src, testEnv)
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}

// chain defines functions that call the one before twice.
func chain(n int) string {
	var b strings.Builder
	for i := 1; i < n; i++ {
		name, before := "f"+string(rune('a'+i%26))+strings.Repeat("x", i/26), "f"+string(rune('a'+(i-1)%26))+strings.Repeat("x", (i-1)/26)
		b.WriteString(name + "() { " + before + "; " + before + "; };")
	}
	last := "f" + string(rune('a'+(n-1)%26)) + strings.Repeat("x", (n-1)/26)
	return "fa() { ls; };" + b.String() + last
}

var benchTexts = map[string]string{
	"short":    "git status",
	"typical":  "cd src && grep -rn 'foo' --include='*.go' . | head -20",
	"thousand": strings.Repeat("ls -la; ", 1000),
}

func BenchmarkRead(b *testing.B) {
	for name, src := range benchTexts {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read(src, testEnv)
			}
		})
	}
}

// BenchmarkParse is what reading can't be faster than.
func BenchmarkParse(b *testing.B) {
	p := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for name, src := range benchTexts {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Parse(strings.NewReader(src), ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

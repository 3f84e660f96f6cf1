package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// groff reads every page without a warning, and what it sets has each command,
// flag and example.
func TestManPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := newRootCmd()
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	out, err := exec.CommandContext(t.Context(), "groff", append([]string{"-ww", "-k", "-z", "-man", "-Tutf8"}, files...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("groff (is it installed? run make deps): %v\n%s", err, out)
	}
	set := func(name string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "groff", "-k", "-man", "-Tutf8", "-P-cbou", filepath.Join(dir, name+".1"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(strings.ReplaceAll(string(out), "‐\n", "")), " ")
	}
	for name, wants := range map[string][]string{
		"gatelatch":                {"gatelatch - the gate between AI agents", "watch A live inbox in the terminal", "gatelatch-watch(1)", "gatelatch serve start the gateway"},
		"gatelatch-allow":          {"gatelatch allow ID [flags]", "--match string", `'Bash(git commit:*)' --until 8h`, "SEE ALSO gatelatch(1)"},
		"gatelatch-policy-explain": {"gatelatch policy explain [flags] -- TOOL [INPUT]", "SEE ALSO gatelatch-policy(1)"},
	} {
		text := set(name)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
	}
	for _, hidden := range []string{"gatelatch-__complete.1", "gatelatch-help.1"} {
		if _, err := os.Stat(filepath.Join(dir, hidden)); err == nil {
			t.Errorf("%s is written", hidden)
		}
	}
}

func TestRoffTakesAnyText(t *testing.T) {
	t.Parallel()
	p := &roff{}
	p.macro("SH", `a "b" \c`)
	p.line(".so /etc/passwd")
	p.line(`'x -y \fB`)
	want := ".SH \"a \\(dqb\\(dq \\ec\"\n\\&.so /etc/passwd\n\\&'x \\-y \\efB\n"
	if p.String() != want {
		t.Errorf("%q", p.String())
	}
}

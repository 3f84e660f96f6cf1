package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tables must be what the specs give.
func TestTablesAreUpToDate(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	files, err := load(filepath.Join(root, "spec"))
	if err != nil {
		t.Fatal(err)
	}
	vars, err := loadVariables("variables.yaml")
	if err != nil {
		t.Fatal(err)
	}
	table, err := render(files, vars)
	if err != nil {
		t.Fatal(err)
	}
	examples, err := renderExamples(files)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"spectable.go": table, "spectable_test.go": examples} {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is stale: run \"go generate ./shell/...\"", name)
		}
	}
}

func TestBadSpecsAreRefused(t *testing.T) {
	t.Parallel()
	const good = "name: x\nsource: manual\nexamples: {allow: [x]}\n"
	for name, c := range map[string]struct{ text, want string }{
		"no source":       {"name: x\nexamples: {allow: [x]}\n", "source"},
		"no examples":     {"name: x\nsource: manual\n", "examples"},
		"unknown field":   {good + "colour: red\n", "colour"},
		"unknown trait":   {good + "traits: fast\n", "trait"},
		"unknown memory":  {good + "remember: all\n", "remember"},
		"unknown shape":   {good + "operands: apple\n", "shape"},
		"unknown action":  {good + "does: magic\n", "action"},
		"option twice":    {good + "options: {none: -a, text: -a}\n", "twice"},
		"not listed":      {good + "instead: -e\n", "listed"},
		"not read-only":   {good + "traits: readonly\noptions: {write: -o}\n", "readonly"},
		"command twice":   {good + "commands: {a: {does: net}, 'a|b': {does: net}}\n", "twice"},
		"group not there": {good + "use: diff\n", "group"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		files, err := load(dir)
		if err == nil {
			_, err = render(files, &variables{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTwoFilesForOneName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		text := "name: " + name + "\naliases: same\nsource: manual\nexamples: {allow: [x]}\n"
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := load(dir); err == nil {
		t.Error("no error")
	}
}

package shell

import (
	"strings"
	"testing"
)

// harmlessGit is a repository whose configuration runs nothing.
type harmlessGit struct{}

func (harmlessGit) GitRuns(dir string) ([]string, bool) {
	return nil, within("/home/mira/project", dir)
}

func (harmlessGit) Folder(path string) bool { return !strings.Contains(path, "gone") }

func (harmlessGit) Repository(dir string) bool { return within("/home/mira/project", dir) }

func (harmlessGit) ProjectRuns(_, dir string) ([]string, bool) {
	return nil, within("/home/mira/project", dir)
}

func (harmlessGit) Shows(_, dir string) ([]string, bool) {
	return nil, within("/home/mira/project", dir)
}

var (
	testEnv   = Env{Dir: "/home/mira/project", Home: "/home/mira", Project: "/home/mira/project", Files: harmlessGit{}}
	testScope = Scope{Roots: []string{"/home/mira/project"}, Remote: true}
)

func TestSpecExamples(t *testing.T) {
	t.Parallel()
	for _, e := range specExamples {
		f := Read(e.command, testEnv)
		if got := f.ReadOnly(testScope); got != e.allow {
			t.Errorf("%s: %q: harmless is %v, beyond: %+v", e.spec, e.command, got, f.Beyond(testScope))
		}
	}
}

// A name that is not known would silently judge nothing.
func TestSpecsNameKnownGrammars(t *testing.T) {
	t.Parallel()
	plain := names("interpreter")
	outputs := names("stdin paths names number database")
	var check func(path string, s *spec)
	check = func(path string, s *spec) {
		if s.grammar != "" && s.reads() == nil && s.looks() == nil && !plain()[s.grammar] {
			t.Errorf("%s: no grammar %q", path, s.grammar)
		}
		if s.output != "" && !outputs()[s.output] {
			t.Errorf("%s: no output %q", path, s.output)
		}
		for i := range s.commands {
			check(path+" "+s.commands[i].name, &s.commands[i])
		}
	}
	for i := range specTable {
		check(specTable[i].name, &specTable[i])
	}
}

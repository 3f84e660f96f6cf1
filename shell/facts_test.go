package shell

import "testing"

// harmlessGit is a repository whose configuration runs nothing.
type harmlessGit struct{}

func (harmlessGit) GitRuns(dir string) ([]string, bool) {
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

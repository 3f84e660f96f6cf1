package policy

import (
	"testing"

	"github.com/gatelatch/gatelatch"
)

// What a project's grant allows runs in the project, wherever the line goes first.
func TestProjectGrantsStayInTheProject(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	s := rules(t, "exec: {reads: allow}")
	for command, want := range map[string]gatelatch.Effect{
		"make test":                   gatelatch.Allow,
		"cd src && make test":         gatelatch.Allow,
		"cd /tmp/x && make test":      gatelatch.Ask,
		"cd ..; make test":            gatelatch.Ask,
		"cd \"$x\" && make test":      gatelatch.Ask,
		"builtin cd /; make test":     gatelatch.Ask,
		"bash -c 'cd / && make test'": gatelatch.Ask,
	} {
		c := bash(command)
		c.Dir = project
		got := s.Judge(t.Context(), c, &gatelatch.Session{Project: project}, granted(gatelatch.ForProject, "Bash(make test)"))
		if got.Effect != want {
			t.Errorf("%s: got %s, want %s: %s", command, got.Effect, want, messages(got))
		}
	}
}

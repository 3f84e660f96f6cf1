package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// Behind a link, ".." is the parent of where it leads, whatever the path looks like.
func TestParentsOfLinks(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	project := filepath.Join(top, "p")
	for _, dir := range []string{"p/apps/web/node_modules", "p/packages/ui", "p/a/b"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"p/apps/web/node_modules/ui": "../../../packages/ui", "p/a/b/up": "../..", "p/notes": ".npmrc"} {
		if err := os.Symlink(to, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := rules(t, "exec: {reads: allow}\ndeny: ['Read(./a/private)']")
	for command, want := range map[string]gatelatch.Effect{
		"cat a/b/up/a/x":                                gatelatch.Allow,
		"cat apps/web/node_modules/ui/x":                gatelatch.Allow,
		"cat apps/web/../x":                             gatelatch.Allow,
		"cd apps/web && cat ../x":                       gatelatch.Allow,
		"cat a/b/up/../x":                               gatelatch.Ask,
		"cat apps/web/node_modules/ui/../../../x":       gatelatch.Ask,
		"cd apps/web/node_modules/ui && cat ../../../x": gatelatch.Ask,
		"cd a/b/up && ls ..":                            gatelatch.Ask,
		"cat < a/b/up/../x":                             gatelatch.Ask,
		"cat a/b/up/../*":                               gatelatch.Ask,
		"cat notes":                                     gatelatch.Ask, // leads to a file with credentials
		"cat a/b/../private":                            gatelatch.Deny,
		"cat a/b/up/a/private":                          gatelatch.Deny,
		"cd apps/web/node_modules/ui; cat ../../a/private; cd ..; ls": gatelatch.Deny,
	} {
		c := bash(command)
		c.Dir = project
		if got := s.Judge(t.Context(), c, &gatelatch.Session{Project: project}, nil); got.Effect != want {
			t.Errorf("%s: got %s, want %s: %s", command, got.Effect, want, messages(got))
		}
	}
}

package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// A rule about a file holds however the shell gets to it.
func TestRulesReachBelowFolders(t *testing.T) {
	t.Parallel()
	project := filepath.Join(t.TempDir(), "p")
	for _, name := range []string{"private/x", "src/a.go", "src/deep/b.go", "conf/.npmrc", "keys/server.key", "a.txt"} {
		if err := os.MkdirAll(filepath.Join(project, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(project, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(project, "src/deep/out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("private", filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	s := rules(t, "exec: {reads: allow}\ndeny: ['Read(./private/**)']\nallow: ['Bash(tool:*)', 'Bash(tool .npmrc)', 'Bash(cp:*)', 'Bash(npm run:*)', 'Bash(go test:*)']")
	for want, commands := range map[gatelatch.Effect][]string{
		gatelatch.Deny: {
			"cat private/x", "cat p*/x", "cat ?rivate/*", "cat */x", "for d in */; do cat $d/x; done", "grep -r x .", "grep -rn x", "grep -R x .", "rg x", "rg x .", "ag x",
			"find . -type f -exec cat {} +", "find . -type f | xargs cat", "find . -name x -exec cat {} \\;", "for f in $(find .); do cat $f; done", "diff -r . src",
			"cp -r . /backup", "tar cf - .", "tool private/x", "tool --file=private/x", "tool @private/x", "tool -fprivate/x", "git show HEAD:private/x", "git blame private/x",
			"cd private && tool x", "cd private; tool -fx", "(cd private && tool x)", "grep -r x link", "cat link/*", "git log -p -- private/x", "git diff HEAD -- ':(top)private/x'",
		},
		gatelatch.Ask: {
			"cat conf/.*", "grep -r x conf", "grep -r x keys", "rg --hidden x conf", "cat keys/*", "find keys -type f | xargs cat", "grep -R x src", "rg -L x src", "cat src/*/*/passwd",
			"cd .git/hooks && tool pre-commit", "cd .git; tool hooks/x", "cd .claude && tool x", "cd src && cd ../.git && tool x", "tool conf/.npmrc", "tool -d @.npmrc", "tool keys/server.key", "npm run x --script-shell=./y", "npm run x --prefix /y", "go test -exec ./x ./...",
		},
		gatelatch.Allow: {
			"rg x src conf", "grep -rn x src", "grep -rn x --include=*.go src conf keys", "grep -rn x --include='*.go' --include='*.md' src", "cat src/*", "ls src/* conf/*", "find . -name '*.go' | xargs wc -l",
			"find . -name '*.go' -exec grep -l x {} +", "cat *.txt", "diff -r src src", "diff -u a.txt src/a.go", "cp -r src .", "tool .npmrc", "tool a.txt", "cd src && cd deep && tool b.go", "npm run x", "go test ./...",
		},
	} {
		for _, command := range commands {
			c := bash(command)
			c.Dir = project
			if got := s.Judge(t.Context(), c, &gatelatch.Session{Project: project}, nil); got.Effect != want {
				t.Errorf("%s: got %s, want %s: %s", command, got.Effect, want, messages(got))
			}
		}
	}
}

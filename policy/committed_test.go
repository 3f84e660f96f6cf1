package policy

import (
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// What Git shows of a file that no tool may read is asked about, and only where
// such a file is committed.
func TestGitShowsWhatIsDenied(t *testing.T) {
	t.Parallel()
	project, clean := t.TempDir(), t.TempDir()
	for _, dir := range []string{project, clean} {
		writeFile(t, filepath.Join(dir, "src/a.go"), "x")
		writeFile(t, filepath.Join(dir, "docs/b.md"), "x")
		writeFile(t, filepath.Join(dir, "private/x.txt"), "x")
	}
	inGit(t, project, "add", "-A")
	inGit(t, clean, "add", "src", "docs")
	s := rules(t, "exec: {reads: allow}\ndeny: ['Read(./private/**)']")
	for _, command := range []string{"git diff", "git show", "git show HEAD~3", "git log -p", "git log -U0 src", "git grep x", "git diff -- 'p*'", "git log -p -- :/", "git -C src diff", "cd src && git diff", "git diff --stat -p", "git cat-file -p 0123abc"} {
		c := bash(command)
		c.Dir = project
		if v := s.Judge(t.Context(), c, &gatelatch.Session{Project: project}, nil); v.Effect != gatelatch.Ask || !strings.Contains(messages(v), "private/x.txt") {
			t.Errorf("%s: %s: %s", command, v.Effect, messages(v))
		}
		c.Dir = clean
		if v := s.Judge(t.Context(), c, &gatelatch.Session{Project: clean}, nil); v.Effect != gatelatch.Allow {
			t.Errorf("not committed: %s: %s: %s", command, v.Effect, messages(v))
		}
		c.Dir = project
		if v := Default().Judge(t.Context(), c, &gatelatch.Session{Project: project}, nil); v.Effect != gatelatch.Allow {
			t.Errorf("no such rule: %s: %s: %s", command, v.Effect, messages(v))
		}
	}
	for _, command := range []string{"git status", "git log", "git log --stat", "git diff --stat", "git diff --name-only", "git show -s", "git diff -- src", "git log -p -- src/a.go docs", "git grep -l x", "git grep -n x -- docs"} {
		c := bash(command)
		c.Dir = project
		if v := s.Judge(t.Context(), c, &gatelatch.Session{Project: project}, nil); v.Effect != gatelatch.Allow {
			t.Errorf("%s: %s: %s", command, v.Effect, messages(v))
		}
	}
	writeFile(t, filepath.Join(project, ".git/index"), "DIRC\x00\x00\x00\x02\x00\x00\x00\x09")
	if _, known := (repositories{follow: follow}).tracked(project, false); known {
		t.Error("half an index is known")
	}
}

func TestReadsEveryVersionOfTheIndex(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3", "4"} {
		dir := t.TempDir()
		names := []string{"a", "a.b/c", "a.b/cc", "a.b/d/efghijk", strings.Repeat("long/", 60) + "x", "z"}
		for _, name := range names {
			writeFile(t, filepath.Join(dir, name), "x")
		}
		inGit(t, dir, "add", "-A")
		inGit(t, dir, "update-index", "--index-version="+version)
		if version == "3" { // an entry that needs it
			inGit(t, dir, "rm", "-q", "--cached", "z")
			inGit(t, dir, "add", "-N", "z")
		}
		files, known := (repositories{follow: follow}).tracked(dir, false)
		if len(files) != len(names) || !known {
			t.Fatalf("version %s: %q, %v", version, files, known)
		}
		for _, file := range files {
			if rel, _ := relative(dir, file); !newDisk("").exists(file) {
				t.Errorf("version %s: %q is no file", version, rel)
			}
		}
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a"), "x")
	inGit(t, dir, "add", "-A")
	inGit(t, dir, "update-index", "--split-index")
	writeFile(t, filepath.Join(dir, "b"), "x")
	inGit(t, dir, "add", "b")
	if files, known := (repositories{follow: follow}).tracked(dir, false); known {
		t.Errorf("a part of the index counts as all: %q", files)
	}
	// By chance of the clock, Git leaves no entry here and all in the other file.
	writeFile(t, filepath.Join(dir, ".git/index"), "DIRC\x00\x00\x00\x02\x00\x00\x00\x00"+"link\x00\x00\x00\x14"+strings.Repeat("s", 20)+strings.Repeat("s", 20))
	if files, known := (repositories{follow: follow}).tracked(dir, false); known {
		t.Errorf("an index whose files are all elsewhere counts as all: %q", files)
	}
	writeFile(t, filepath.Join(dir, ".git/index"), "DIRC\x00\x00\x00\x02\x00\x00\x00\x00"+strings.Repeat("s", 20))
	if files, known := (repositories{follow: follow}).tracked(dir, false); !known || len(files) > 0 {
		t.Errorf("an empty index: %q, %v", files, known)
	}
}

// inGit makes a repository of a folder and runs Git in it.
func inGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, args} {
		cmd := osexec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin:/usr/local/bin", "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

package policy

import (
	"os"
	"path/filepath"
	"testing"
)

// What a repository's configuration runs is found, and what can't be read is
// not called harmless.
func TestGitRuns(t *testing.T) {
	t.Parallel()
	usual := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n[user]\n\tname = me\n"
	for name, tt := range map[string]struct {
		config string
		runs   int
		known  bool
	}{
		"as git init makes it":     {usual, 0, true},
		"git's own monitor":        {usual + "[core]\n\tfsmonitor = true\n", 0, true},
		"a monitor":                {usual + "[core]\n\tfsmonitor = ./x.sh\n", 1, true},
		"on the section's line":    {usual + "[core] fsmonitor = ./x.sh\n", 1, true},
		"in capitals":              {usual + "[CORE]\n\tFSMonitor = ./x.sh\n", 1, true},
		"a pager":                  {usual + "[core]\n\tpager = x\n", 1, true},
		"a pager of a command":     {usual + "[pager]\n\tlog = x\n", 1, true},
		"hooks elsewhere":          {usual + "[core]\n\thooksPath = /x\n", 1, true},
		"a diff driver":            {usual + "[diff \"x\"]\n\ttextconv = x\n", 1, true},
		"a diff driver, old form":  {usual + "[diff.x]\n\tcommand = x\n", 1, true},
		"a filter":                 {usual + "[filter \"x\"]\n\tclean = x\n\tsmudge = y\n", 2, true},
		"large files":              {usual + "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n", 0, true},
		"large files, and more":    {usual + "[filter \"lfs\"]\n\tclean = git-lfs clean; rm x\n", 1, true},
		"an alias":                 {usual + "[alias]\n\tst = !rm x\n", 0, true},
		"a helper":                 {usual + "[credential]\n\thelper = !x\n", 1, true},
		"a transport":              {usual + "[remote \"o\"]\n\turl = ext::sh -c x\n", 1, true},
		"signatures":               {usual + "[log]\n\tshowSignature = true\n", 1, true},
		"a section nobody knows":   {usual + "[frob]\n\tnicate = x\n", 1, true},
		"another file":             {usual + "[include]\n\tpath = x\n", 0, false},
		"another file, if":         {usual + "[includeIf \"gitdir:x\"]\n\tpath = x\n", 0, false},
		"a value over two lines":   {usual + "[user]\n\tname = a\\\nb\n", 0, false},
		"no end of a section":      {"[core\n", 0, false},
		"a pager before a section": {"[core]\npager = x\n[user]\nname = y\n", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, "sub/deep"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, ".git/config"), []byte(tt.config), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, at := range []string{dir, filepath.Join(dir, "sub/deep"), filepath.Join(dir, "sub/not/there")} {
				runs, known := (repositories{follow: follow}).GitRuns(at)
				if len(runs) != tt.runs || known != tt.known {
					t.Errorf("%s: runs %v, known %v", at, runs, known)
				}
			}
		})
	}
}

// A folder may be a repository without looking like one, and a file may stand
// for one that lies elsewhere.
func TestGitRunsInOddPlaces(t *testing.T) {
	t.Parallel()
	bare := t.TempDir()
	for _, name := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(bare, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tfsmonitor = x\n"} {
		if err := os.WriteFile(filepath.Join(bare, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if runs, known := (repositories{follow: follow}).GitRuns(bare); len(runs) != 1 || !known {
		t.Errorf("a bare repository: %v, %v", runs, known)
	}
	hooked := t.TempDir()
	if err := os.MkdirAll(filepath.Join(hooked, ".git/hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hooked, ".git/hooks/post-index-change"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if runs, known := (repositories{follow: follow}).GitRuns(hooked); known {
		t.Errorf("a hook that reading runs: %v, %v", runs, known)
	}
	linked := t.TempDir()
	if err := os.WriteFile(filepath.Join(linked, ".git"), []byte("gitdir: "+bare+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, known := (repositories{follow: follow}).GitRuns(linked); len(runs) != 1 || !known {
		t.Errorf("a file .git: %v, %v", runs, known)
	}
	worktree := t.TempDir()
	for name, text := range map[string]string{".git": "gitdir: own\n", "own/commondir": bare + "\n"} {
		if err := os.MkdirAll(filepath.Join(worktree, "own"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(worktree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if runs, known := (repositories{follow: follow}).GitRuns(worktree); len(runs) != 1 || !known {
		t.Errorf("a worktree: %v, %v", runs, known)
	}
	if err := os.WriteFile(filepath.Join(worktree, ".git"), []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, known := (repositories{follow: follow}).GitRuns(worktree); known {
		t.Errorf("a file .git that is none: %v", runs)
	}
}

package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func repository(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("git", "init", "-q", dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TEMPLATE_DIR="}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(config)
	must(t, err)
	must(t, f.Close())
	return dir
}

func TestGitConfigurationThatRuns(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		"": "",
		"[user]\n\tname = x\n[remote \"origin\"]\n\turl = https://example.com/x\n\tfetch = +a:b\n": "",
		"[core]\n\tfsmonitor = true\n[core]\n\tpager = cat\n[alias]\n\tst = !rm x\n":               "",
		"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n":                                        "",
		"[core]\n\tfsmonitor = ./x\n":                                                              "core.fsmonitor",
		"[CORE]\n\tFsMonitor=./x\n":                                                                "core.fsmonitor",
		"[core] pager = ./x\n":                                                                     "core.pager",
		"[pager]\n\tlog = ./x\n":                                                                   "pager.log",
		"[diff]\n\texternal = ./x\n":                                                               "diff.external",
		"[diff \"a b\"]\n\ttextconv = ./x\n":                                                       "diff.textconv",
		"[diff.old]\n\tcommand = ./x\n":                                                            "diff.command",
		"[filter \"lfs\"]\n\tclean = git-lfs; ./x\n":                                               "filter.clean",
		"[core]\n\thooksPath = ./x\n":                                                              "core.hookspath",
		"[remote \"o\"]\n\tuploadpack = ./x\n":                                                     "remote.uploadpack",
		"[include]\n\tpath = ../x\n":                                                               "?",
		"[includeIf \"gitdir:x\"]\n\tpath = ../x\n":                                                "?",
		"[core]\n\tpag\\\ner = ./x\n":                                                              "?",
		"[core\n":                                                                                  "?",
		"[core]\n\teditor = x\n[extensions]\n\tx = 1\n":                                            "",
	} {
		settings, known := Machine{}.GitRuns(filepath.Join(repository(t, config)))
		got := strings.Join(settings, " ")
		if !known {
			got = "?"
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", config, got, want)
		}
	}
}

func TestGitWhereItsRepositoryIs(t *testing.T) {
	t.Parallel()
	dir := repository(t, "[core]\n\tpager = ./x\n")
	must(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
	if settings, known := (Machine{}).GitRuns(filepath.Join(dir, "a", "b")); !known || len(settings) != 1 {
		t.Errorf("below: %v %v", settings, known)
	}
	if _, known := (Machine{}).GitRuns(t.TempDir()); known {
		t.Error("no repository, but its configuration is known")
	}
	// A folder with HEAD, objects and refs is one to Git.
	for _, name := range []string{"HEAD", "objects", "refs"} {
		must(t, os.WriteFile(filepath.Join(dir, "a", name), nil, 0o600))
	}
	if _, known := (Machine{}).GitRuns(filepath.Join(dir, "a", "b")); known {
		t.Error("a repository within, but its configuration is known")
	}
	must(t, os.WriteFile(filepath.Join(dir, ".git", "hooks"), nil, 0o600))
	tree := t.TempDir()
	must(t, os.WriteFile(filepath.Join(tree, ".git"), []byte("gitdir: "+filepath.Join(dir, ".git")+"\n"), 0o600))
	if settings, known := (Machine{}).GitRuns(tree); !known || len(settings) == 0 {
		t.Errorf("a work tree elsewhere: %v %v", settings, known)
	}
}

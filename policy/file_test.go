//go:build unix

package policy

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

func write(t *testing.T, path, yaml string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace puts a new file in the place of path, older than any clock's tick.
func replace(t *testing.T, path, yaml string) {
	t.Helper()
	write(t, path+".new", yaml)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path+".new", old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, f *File, want gatelatch.Effect, problem string) {
	t.Helper()
	if got := judge(t, f, bash("make x")); got.Effect != want || got.Policy != f.Hash() {
		t.Errorf("got %s, want %s: %s", got.Effect, want, messages(got))
	}
	if got := f.Problem(); (got == "") != (problem == "") || !strings.Contains(got, problem) {
		t.Errorf("problem: got %q, want %q", got, problem)
	}
}

const (
	allowsMake = "version: 1\nallow: ['Bash(make:*)']\n"
	deniesMake = "version: 1\ndeny: ['Bash(make:*)']\n"
)

func TestFileFollowsChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	f := Open(path)
	wants(t, f, gatelatch.Ask, "")
	if f.Hash() != Default().Hash() {
		t.Error("without a file the default rules hold")
	}
	replace(t, path, allowsMake)
	wants(t, f, gatelatch.Allow, "")
	replace(t, path, deniesMake)
	wants(t, f, gatelatch.Deny, "")
	replace(t, path, "version: 1\nallow: [")
	wants(t, f, gatelatch.Deny, "; the last good rules stay in force")
	if err := f.Reload(); err == nil {
		t.Error("Reload hides the error")
	}
	replace(t, path, allowsMake)
	wants(t, f, gatelatch.Allow, "")
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	wants(t, f, gatelatch.Allow, "can be written by others")
	replace(t, path, deniesMake)
	wants(t, f, gatelatch.Deny, "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wants(t, f, gatelatch.Deny, "policy.yaml is gone; the last good rules stay in force")
	replace(t, path, allowsMake)
	wants(t, f, gatelatch.Allow, "")
}

// Nothing is judged in between: a page that shows the status must do.
func TestProblemIsOfTheFileAsItIsNow(t *testing.T) {
	t.Parallel()
	const broken = "version: 1\n\n\nallow: ['*']"
	path := filepath.Join(t.TempDir(), "policy.yaml")
	f := Open(path)
	for _, tt := range []struct{ yaml, want string }{
		{"", ""},
		{broken, "policy.yaml:4: a rule can't allow every tool; the last good rules stay in force"},
		{"", ""}, // the default rules hold, as without it
		{allowsMake, ""},
		{broken, "policy.yaml:4: a rule can't allow every tool; the last good rules stay in force"},
		{deniesMake, ""},
		{"", "policy.yaml is gone; the last good rules stay in force"},
	} {
		if tt.yaml == "" {
			_ = os.Remove(path)
		} else {
			replace(t, path, tt.yaml)
		}
		if got := f.Problem(); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.yaml, got, tt.want)
		}
	}
	replace(t, path, broken)
	f = Open(path)
	if got, want := f.Problem(), "policy.yaml:4: a rule can't allow every tool; everything is denied until it is mended"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	replace(t, path, allowsMake)
	if got := f.Problem(); got != "" {
		t.Errorf("mended: got %q", got)
	}
}

func TestProblemSeesANewOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "policy.yaml")
	replace(t, path, allowsMake)
	f := Open(path)
	for i, want := range []string{1: "belongs to somebody else", 2: ""} {
		if err := os.Chown(path, i%2, -1); err != nil {
			t.Fatal(err)
		}
		if got := f.Problem(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestProtectedDirectories(t *testing.T) {
	t.Parallel()
	top := tree(t)
	path := filepath.Join(top, "policy.yaml")
	const all = "version: 1\nallow: [Read, Write, Bash, mcp__fs__*]\n"
	replace(t, path, all)
	f := Open(path)
	before := f.Set()
	f.Protect(filepath.Join(top, "alias", "src"), "") // a link to project
	f.Protect(filepath.Join(top, "state"))
	check := func(set gatelatch.Policy, protects bool) {
		t.Helper()
		for path, inside := range map[string]bool{
			"src/a.go": true, "src": true, "in/a.go": true, top + "/alias/src/x": true, top + "/ALIAS/Src/x": true, top + "/state/db": true, "../state": true,
			"sub/x": false, "src2/x": false, top + "/states": false,
		} {
			if !strings.Contains(path, "/") {
				path = "./" + path
			}
			for tool, input := range map[string]map[string]any{
				"Write": {"file_path": path}, "Read": {"file_path": path}, "Bash": {"command": "tool --x='" + path + "'"}, "mcp__fs__x": {"p": []string{path}},
			} {
				want := gatelatch.Allow
				if inside && protects {
					want = gatelatch.Ask
				}
				c, sess := in(top, tool, input)
				if got := set.Judge(t.Context(), c, sess, nil); got.Effect != want {
					t.Errorf("%s %s: got %s, want %s: %s", tool, path, got.Effect, want, messages(got))
				}
			}
		}
	}
	check(f, true)
	check(before, false) // a set never changes
	replace(t, path, all+"deny: [X]\n")
	check(f, true)
	if f.Hash() == before.Hash() {
		t.Error("the new rules are not in force")
	}
}

func TestFileWrittenTwiceWithinATick(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	write(t, path, "version: 1\ndeny:  ['Bash(make:*)']\n")
	now := time.Now()
	same := func() {
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
	}
	same()
	f := Open(path)
	wants(t, f, gatelatch.Deny, "")
	write(t, path, "version: 1\nallow: ['Bash(make:*)']\n")
	same()
	wants(t, f, gatelatch.Allow, "")
}

func TestFileThatIsNotSafe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func(path string) error
		want string
	}{
		"broken":         {func(p string) error { return os.WriteFile(p, []byte("version: 1\n\nallow: [\"*\"]"), 0o600) }, "policy.yaml:3: a rule can't allow every tool"},
		"group-writable": {func(p string) error { return chmodded(p, 0o620) }, "can be written by others (mode 0620)"},
		"world-writable": {func(p string) error { return chmodded(p, 0o602) }, "can be written by others (mode 0602)"},
		"a link": {func(p string) error {
			return firstError(os.WriteFile(p+".real", []byte(allowsMake), 0o600), os.Symlink(p+".real", p))
		}, "symbolic link"},
		"a link to nothing": {func(p string) error { return os.Symlink("nothing", p) }, "symbolic link"},
		"a directory":       {func(p string) error { return os.Mkdir(p, 0o700) }, "not a regular file"},
		"a pipe":            {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "not a regular file"},
		"too large":         {func(p string) error { return os.WriteFile(p, make([]byte, maxFile+1), 0o600) }, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "policy.yaml")
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			f := Open(path)
			wants(t, f, gatelatch.Deny, tt.want)
			if got := judge(t, f, call("TodoWrite", `{}`)); !strings.Contains(got.Denial(), tt.want) {
				t.Errorf("got %q", got.Denial())
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			wants(t, f, gatelatch.Deny, "is gone")
			replace(t, path, allowsMake)
			wants(t, f, gatelatch.Allow, "")
		})
	}
}

func chmodded(path string, mode os.FileMode) error {
	return firstError(os.WriteFile(path, []byte(allowsMake), 0o600), os.Chmod(path, mode))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestFileIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	write(t, path, allowsMake)
	f := Open(path)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if got := f.Judge(t.Context(), bash("make x"), nil, nil); got.Effect == gatelatch.Ask {
					t.Errorf("got %s: %s", got.Effect, messages(got))
				}
			}
		})
	}
	for i := range 20 {
		replace(t, path, []string{allowsMake, deniesMake}[i%2])
	}
	wg.Wait()
}

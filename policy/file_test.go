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
	wants(t, f, gatelatch.Deny, "policy.yaml:")
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
	wants(t, f, gatelatch.Deny, "is gone")
	replace(t, path, allowsMake)
	wants(t, f, gatelatch.Allow, "")
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
				if got := f.Judge(t.Context(), bash("make x"), nil); got.Effect == gatelatch.Ask {
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

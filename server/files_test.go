//go:build unix

package server

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/render"
)

func here(t *testing.T, project string) *gatelatch.Session {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return &gatelatch.Session{Host: host, Project: project}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An agent names the path. People see plain files of the project, and
// nothing else of this machine.
func TestFilesOfAProject(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	at := func(name string) string { return filepath.Join(project, name) }
	put(t, at("plain.go"), "package p\n")
	put(t, at("sub/deep.txt"), "deep")
	put(t, at("full.txt"), strings.Repeat("x", maxFile))
	put(t, at("huge.txt"), strings.Repeat("x", maxFile+1))
	put(t, at("binary"), "\xff\xfe")
	put(t, at(".env"), "TOKEN=1")
	put(t, at(".ssh/config"), "Host x")
	put(t, dir+"/outside.txt", "outside")
	put(t, dir+"/project2/near.txt", "near")
	must(t, os.Symlink(dir+"/outside.txt", at("link.txt")))
	must(t, os.Symlink("../outside.txt", at("relative.txt")))
	must(t, os.Symlink("plain.go", at("inner.go")))
	must(t, os.Symlink(dir, at("out")))
	must(t, os.Symlink("sub", at("in")))
	must(t, os.Symlink(".ssh", at("innocent")))
	must(t, os.Symlink(dir+"/nowhere", at("dangling")))
	must(t, os.Symlink("/dev/zero", at("zero")))
	must(t, syscall.Mkfifo(at("pipe"), 0o600))
	missing, full := &render.File{Missing: true}, &render.File{Text: strings.Repeat("x", maxFile)}
	files := filesOf(here(t, project))
	for path, want := range map[string]*render.File{
		at("plain.go"):                {Text: "package p\n"},
		at("sub/deep.txt"):            {Text: "deep"},
		at("sub/../plain.go"):         {Text: "package p\n"},
		at("in/deep.txt"):             {Text: "deep"},
		at("full.txt"):                full,
		at("new.go"):                  missing,
		at("sub/none/new.go"):         missing,
		at("huge.txt"):                nil,
		at("binary"):                  nil,
		at(".env"):                    nil,
		at(".env.new"):                nil,
		at(".ssh/config"):             nil,
		at("innocent/config"):         nil,
		at("link.txt"):                nil,
		at("relative.txt"):            nil,
		at("inner.go"):                nil,
		at("out/outside.txt"):         nil,
		at("out/none.txt"):            nil,
		at("dangling"):                nil,
		at("zero"):                    nil,
		at("pipe"):                    nil,
		at("sub"):                     nil,
		project:                       nil,
		at("../outside.txt"):          nil,
		project + "/../outside.txt":   nil,
		dir + "/outside.txt":          nil,
		dir + "/project2/near.txt":    nil,
		"plain.go":                    nil,
		"":                            nil,
		at("plain.go\x00"):            nil,
		at("plain.go/x"):              nil,
		at(strings.Repeat("x", 5000)): nil,
	} {
		got := files(path)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%.80q: %.60v, want %.60v", path, got, want)
		}
	}
}

// Which sessions have files at all.
func TestSessionsWithFiles(t *testing.T) {
	dir := t.TempDir()
	elsewhere := here(t, dir)
	elsewhere.Host += ".other"
	unnamed := here(t, dir)
	unnamed.Host = ""
	for name, s := range map[string]*gatelatch.Session{
		"another host": elsewhere, "no host": unnamed, "no project": here(t, ""), "everything": here(t, "/"), "everything, in other words": here(t, "//tmp/.."),
		"a relative project": here(t, "project"),
	} {
		if filesOf(s) != nil {
			t.Errorf("%s: there are files", name)
		}
	}
	for project, path := range map[string]string{
		dir + "/none": dir + "/none/x", // which is no folder
		"/proc/self":  "/proc/self/environ",
		"/proc":       "/proc/self/status",
		"/dev":        "/dev/zero",
		"/sys":        "/sys/kernel/uevent_seqnum",
	} {
		if got := filesOf(here(t, project))(path); got != nil {
			t.Errorf("%s is shown: %.40q", path, got.Text)
		}
	}
}

// A name that becomes something else while it is read shows nothing else.
func TestFilesThatChangeMeanwhile(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	name := filepath.Join(project, "file")
	put(t, dir+"/outside.txt", "outside")
	put(t, name, "inside")
	must(t, os.Symlink(dir+"/outside.txt", dir+"/link"))
	must(t, os.Symlink(dir, dir+"/folder"))
	must(t, syscall.Mkfifo(dir+"/pipe", 0o600))
	put(t, dir+"/plain", "inside")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // each takes the place of the one before at once
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			from := dir + []string{"/plain", "/link", "/pipe", "/folder"}[i%4]
			if os.Rename(name, dir+"/spare") != nil || os.Rename(from, name) != nil || os.Rename(dir+"/spare", from) != nil {
				return
			}
		}
	})
	files, read := filesOf(here(t, project)), 0
	for range 5000 {
		got := files(name)
		if got != nil && !got.Missing && got.Text != "inside" {
			t.Fatalf("shown: %q", got.Text)
		}
		if got != nil && got.Text != "" {
			read++
		}
	}
	close(stop)
	wg.Wait()
	if read == 0 {
		t.Error("it was never read")
	}
}

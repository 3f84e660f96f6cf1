package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds every single wait. It is generous, because two cores may be
// shared; a test that works never gets near it. A campaign is not ended by a pause.
var patience = 40 * time.Second

func init() {
	if os.Getenv("GATELATCH_SOAK") != "" {
		patience = 5 * time.Minute
	}
}

// scratch holds what all tests share: built binaries and the browser's profile.
var scratch string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gl-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	scratch = dir
	flag.Parse()
	if err := moreAtOnce(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer closeBrowser()
	return m.Run()
}

// moreAtOnce runs two tests for each core unless told otherwise: they mostly wait
// for other processes, and for buttons to be armed.
func moreAtOnce() error {
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || f.Name == "test.parallel" })
	if told {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
}

type binaries struct{ gatelatch, hook string }

// product finds the binaries under test, or builds them beside each other, as
// "install" looks for the hook beside its own executable.
var product = sync.OnceValues(func() (binaries, error) {
	b := binaries{os.Getenv("GATELATCH_BIN"), os.Getenv("GATELATCH_HOOK_BIN")}
	if (b.gatelatch == "") != (b.hook == "") {
		return b, errors.New("set both or none of GATELATCH_BIN and GATELATCH_HOOK_BIN: run make test")
	}
	if b.gatelatch != "" {
		return b, errors.Join(present(b.gatelatch), present(b.hook))
	}
	bin := filepath.Join(scratch, "bin")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", bin+string(filepath.Separator), "./cmd/gatelatch", "./cmd/gatelatch-hook")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return b, fmt.Errorf("can't build the product (run make test): %w\n%s", err, out)
	}
	return binaries{filepath.Join(bin, "gatelatch"), filepath.Join(bin, "gatelatch-hook")}, nil
})

// claude finds the pinned agent. The script keeps it in a cache and prints its path.
var claude = sync.OnceValues(func() (string, error) { return fetched("CLAUDE_BIN", "claude.sh") })

// fetched is a path that the environment names, or that a script fetches and prints.
func fetched(env, script string) (string, error) {
	path := os.Getenv(env)
	if path == "" {
		cmd := exec.Command("../scripts/" + script)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("%s is not set and scripts/%s failed (run make test): %w", env, script, err)
		}
		path = strings.TrimSpace(string(out))
	}
	return path, present(path)
}

// chromium finds the browser.
var chromium = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("CHROMIUM"); bin != "" {
		return bin, present(bin)
	}
	bin, err := exec.LookPath("chromium")
	if err != nil {
		return "", fmt.Errorf("CHROMIUM is not set and there is no chromium on PATH (run make test): %w", err)
	}
	return bin, nil
})

func present(file string) error {
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("%w (run make test)", err)
	}
	return nil
}

// need ends the test if something it stands on is missing.
func need[T any](t *testing.T, find func() (T, error)) T {
	t.Helper()
	v, err := find()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// tempDir is like t.TempDir with a short name: a socket's path has 107 bytes.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gl-") //nolint:usetesting // t.TempDir puts the test's whole name into the path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// cleanEnv is the environment of every process under test: nothing of the
// developer's own gets in, least of all a HOME whose agent we might gate.
func cleanEnv(home string, more ...string) []string {
	return append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8"}, more...)
}

// until waits for a fact about an outside process that gives no signal. Where
// there is a signal (an exit, an event of the page), wait for that instead.
func until(t *testing.T, what string, fact func() bool) {
	t.Helper()
	if err := poll(t.Context(), fact); err != nil {
		t.Fatalf("waited in vain for %s: %v", what, err)
	}
}

// poll looks less often as time passes: looking costs a process on the same cores.
func poll(ctx context.Context, fact func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for pause := 10 * time.Millisecond; !fact(); pause = min(2*pause, 200*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

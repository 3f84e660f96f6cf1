//go:build linux

package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// patience bounds every single wait; a test that works never gets near it.
const patience = 40 * time.Second

// scratch holds the binary that all tests share.
var scratch string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == watchedArg {
		fmt.Fprintln(os.Stderr, "crash:", runWatched(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gl-crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	scratch = dir
	defer os.RemoveAll(dir)
	return m.Run()
}

// product finds the binary under test, or builds it.
var product = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("GATELATCH_BIN"); bin != "" {
		_, err := os.Stat(bin)
		return bin, err
	}
	bin := filepath.Join(scratch, "gatelatch")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "./cmd/gatelatch")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("can't build the product (run make test): %w\n%s", err, out)
	}
	return bin, nil
})

// tempDir is like t.TempDir with a short name: a socket's path has 107 bytes.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gl-") //nolint:usetesting // t.TempDir puts the test's whole name into the path
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// soaking reports whether this is a campaign, which may take its time.
func soaking() bool { return os.Getenv("GATELATCH_SOAK") != "" }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

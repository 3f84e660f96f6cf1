//go:build linux

package crash

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// writing are all calls that write to a file or make it durable: one that we
// don't watch must show, too. sync_file_range is none: it only begins to move
// what was written, and whoever relied on it would be caught by the rest.
const writing = "write,writev,pwrite64,pwritev,pwritev2,ftruncate,fallocate,copy_file_range,sendfile,splice,fsync,fdatasync,msync,sync,syncfs"

// traced runs the workload under strace, and returns its lines.
func traced(t *testing.T, steps []step) (lines []string, dir string) {
	t.Helper()
	g, d := newGateway(t), newDesk(solo)
	out := filepath.Join(g.home, "trace")
	if !g.launch([]string{"strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=" + writing, "-e", "signal=none", "-s", "0", "-o", out}, nil) {
		t.Fatalf("no gateway under strace (run make deps): %s", g.log)
	}
	must(t, d.sit(g.state))
	_, err := d.work(t.Context(), steps, 0)
	must(t, err)
	g.stop()
	raw, err := os.ReadFile(out)
	must(t, err)
	return strings.Split(string(raw), "\n"), string(g.state)
}

// began is a call as strace shows it: thread, name and file of the first
// argument.
var began = regexp.MustCompile(`^(\d+) +(\w+)\(\d+<([^>]*)>`)

func countedByStrace(t *testing.T, steps []step) (n int) {
	t.Helper()
	watched := slices.Collect(maps.Values(points))
	lines, dir := traced(t, steps)
	for _, line := range lines {
		m := began.FindStringSubmatch(line)
		if len(m) != 4 || m[3] != dir && !strings.HasPrefix(m[3], dir+"/") {
			continue
		}
		if !slices.Contains(watched, m[2]) {
			t.Fatalf("the gateway writes by %s, which nobody watches", m[2])
		}
		n++
	}
	return n
}

// ended is the end of a call that another thread's line interrupted.
var ended = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>`)

// REL-01: nothing is said while something that was written is not yet on the
// disk. A kill can't show this: what the kernel has it keeps.
func TestNothingIsSaidBeforeItIsDurable(t *testing.T) {
	t.Parallel()
	lines, dir := traced(t, canonical())
	dirty := map[string]bool{}
	syncing := map[string]string{} // thread → file
	said, synced := 0, 0
	for i, line := range lines {
		if m := ended.FindStringSubmatch(line); len(m) == 3 && syncing[m[1]] != "" {
			delete(dirty, syncing[m[1]])
			delete(syncing, m[1])
			synced++
			continue
		}
		m := began.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		call, file := m[2], m[3]
		switch {
		case strings.HasPrefix(file, "socket:"):
			said++
			if len(dirty) > 0 {
				t.Errorf("line %d: something is said while %v is not durable", i+1, dirty)
			}
		case !strings.HasPrefix(file, dir+"/"), strings.HasPrefix(file, dir+"/run/"), strings.HasSuffix(file, "-shm"):
			// Not ours, or worth nothing after a crash.
		case strings.HasSuffix(file, "gatelatch.db"), strings.HasSuffix(file, "gatelatch.db-wal"):
			// The tables follow the redo log, which has to have it first.
		case call != "fsync" && call != "fdatasync":
			dirty[file] = true
		case strings.HasSuffix(line, "<unfinished ...>"):
			syncing[m[1]] = file
		default:
			delete(dirty, file)
			synced++
		}
	}
	t.Logf("%d answers, %d fsyncs", said, synced)
	if said < len(canonical()) || synced < len(canonical()) {
		t.Error("the trace does not show what was tested")
	}
}

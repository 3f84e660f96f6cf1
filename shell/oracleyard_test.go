package shell

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// realPrograms may run in the oracle, in place of a note; the others only leave
// one.
var (
	realPrograms = strings.Fields("cat ls env xargs find sed awk sort head tail grep wc timeout nice uniq tr seq date test printf basename bash sh")
	stubs        = names("rm touch cp")
)

// A yard runs texts in namespaces of its own: no network, no processes but
// theirs, and a root that has little more than a project in it. Each program on
// the PATH leaves a note first.
type yard struct {
	dir string // on this side: fs is the root, with project, notes and bin in it
	in  io.Writer
	out *bufio.Reader
}

// sandbox makes the root of mounts, then runs what it is given one by one, each
// in a namespace of processes that ends with it.
const sandbox = `
set -eu
cd "$1"
mount --bind fs fs
mount --bind bin fs/usr/bin
mount --bind project fs/project
mount --bind notes fs/notes
mount -t tmpfs -o size=4m none fs/tmp
for dir in bin lib lib64; do
	to=fs/usr/$dir
	[ $dir = bin ] && to=fs/real
	[ -d /usr/$dir ] && mount --bind /usr/$dir $to && mount -o remount,bind,ro $to
done
mount --bind /dev/null fs/dev/null
mount -o remount,bind,ro fs/usr/bin
mount -o remount,bind,ro fs
ulimit -t 5 -f 4096
echo ready
while IFS= read -r -d '' text; do
	timeout -s KILL 5 unshare --pid --fork --kill-child --mount --mount-proc="$PWD/fs/proc" chroot fs \
		/real/env -i -C /project PATH=/usr/bin HOME=/project/src LC_ALL=C.UTF-8 \
		/real/bash --norc --noprofile -c "$text" </dev/null >/dev/null 2>&1 || :
	echo done
done
`

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{dir: t.TempDir()}
	for _, dir := range strings.Fields("bin project notes fs/usr/bin fs/usr/lib fs/usr/lib64 fs/real fs/project fs/notes fs/tmp fs/proc fs/dev") {
		must(t, os.MkdirAll(filepath.Join(y.dir, dir), 0o700))
	}
	for name, to := range map[string]string{"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64", "dev/fd": "/proc/self/fd"} {
		must(t, os.Symlink(to, filepath.Join(y.dir, "fs", name)))
	}
	must(t, os.WriteFile(filepath.Join(y.dir, "fs/dev/null"), nil, 0o600))
	for _, name := range slices.Concat(realPrograms, slices.Collect(maps.Keys(stubs()))) {
		note := "#!/real/bash -p\nprintf '%s\\0' $(($# + 1)) \"${0##*/}\" \"$@\" >> /notes/$$\n" // one file each: a note with a newline is written in two pieces
		if !stubs()[name] {
			path, err := exec.LookPath(name)
			must(t, err)
			note += "exec -a " + name + " /real/" + filepath.Base(path) + " \"$@\"\n"
		}
		must(t, os.WriteFile(filepath.Join(y.dir, "bin", name), []byte(note), 0o700))
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child", "bash", "-c", sandbox, "sandbox", y.dir)
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	y.in, y.out = in, bufio.NewReader(out)
	if line, err := y.out.ReadString('\n'); line != "ready\n" {
		in.Close()
		_ = cmd.Wait()
		t.Fatalf("no namespaces of our own: %v: %s", err, said.String())
	}
	return y
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a text and returns the programs that ran, with their arguments, and
// the files that it changed.
func (y *yard) run(t *testing.T, src string) (programs [][]string, changed []string) {
	t.Helper()
	project, notes := filepath.Join(y.dir, "project"), filepath.Join(y.dir, "notes")
	y.reset(t, project)
	before := y.files(t, project)
	_, err := fmt.Fprintf(y.in, "%s\x00", src)
	must(t, err)
	if line, err := y.out.ReadString('\n'); line != "done\n" {
		t.Fatalf("%q: %q, %v", src, line, err)
	}
	after := y.files(t, project)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if text, ok := before[name]; !ok || text != after[name] {
			changed = append(changed, name)
		}
		delete(before, name)
	}
	changed = append(changed, slices.Sorted(maps.Keys(before))...)
	var raw []byte
	files, err := os.ReadDir(notes)
	must(t, err)
	for _, f := range files {
		note, err := os.ReadFile(filepath.Join(notes, f.Name()))
		must(t, err)
		must(t, os.Remove(filepath.Join(notes, f.Name())))
		raw = append(raw, note...)
	}
	fields := strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00")
	for len(fields) > 1 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n >= len(fields)+1 || n < 1 {
			t.Fatalf("%q: a broken note in %q", src, raw)
		}
		programs, fields = append(programs, fields[1:n+1]), fields[n+1:]
	}
	return programs, changed
}

// reset makes the project what it was.
func (y *yard) reset(t *testing.T, project string) {
	t.Helper()
	entries, err := os.ReadDir(project)
	must(t, err)
	for _, e := range entries {
		must(t, os.RemoveAll(filepath.Join(project, e.Name())))
	}
	must(t, os.Mkdir(filepath.Join(project, "src"), 0o700))
	for _, name := range []string{"a", "b", "x", filepath.Join("src", "c")} {
		must(t, os.WriteFile(filepath.Join(project, name), []byte("rm\nls -l\n"+name+"\n"), 0o600))
	}
}

func (y *yard) files(t *testing.T, project string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == project {
			return err
		}
		name := strings.TrimPrefix(path, project)
		all[name] = d.Type().String()
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			all[name] += string(data)
			return err
		}
		return nil
	}))
	return all
}

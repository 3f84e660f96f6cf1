package shell

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// realPrograms may run in the oracle: they do nothing but what their words say,
// and those name no place outside of the folder.
var realPrograms = strings.Fields("cat ls env xargs find sed awk sort head tail grep wc timeout nice uniq tr seq date test printf basename")

// A yard is a throw-away folder with a PATH of its own, on which rm and others
// only leave a note.
type yard struct{ dir, bin, log string }

func newYard(t *testing.T) yard {
	t.Helper()
	root := t.TempDir()
	y := yard{filepath.Join(root, "project"), filepath.Join(root, "bin"), filepath.Join(root, "log")}
	for _, dir := range []string{y.dir, y.bin, filepath.Join(y.dir, "src")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	for _, name := range realPrograms {
		path, err := exec.LookPath(name)
		must(t, err)
		must(t, os.Symlink(path, filepath.Join(y.bin, name)))
	}
	bash, err := exec.LookPath("bash")
	must(t, err)
	for _, name := range []string{"bash", "sh"} {
		must(t, os.Symlink(bash, filepath.Join(y.bin, name)))
	}
	for _, name := range []string{"rm", "touch", "cp"} {
		must(t, os.WriteFile(filepath.Join(y.bin, name), []byte("#!"+bash+"\necho "+name+" >> "+y.log+"\n"), 0o700))
	}
	for _, name := range []string{"a", "b", "x", filepath.Join("src", "c")} {
		must(t, os.WriteFile(filepath.Join(y.dir, name), []byte("rm\nls -l\n"+name+"\n"), 0o600))
	}
	return y
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a text and says what it did besides reading.
func (y yard) run(t *testing.T, src string) string {
	t.Helper()
	before := y.files(t)
	cmd := exec.Command("bash", "--norc", "--noprofile", "-c", "ulimit -u 400 -t 5 2>/dev/null; "+src)
	cmd.Dir, cmd.Env = y.dir, []string{"PATH=" + y.bin, "HOME=" + filepath.Join(y.dir, "src"), "LC_ALL=C.UTF-8"}
	cmd.WaitDelay = time.Second
	timer := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Run() // it may well fail
	ran, _ := os.ReadFile(y.log)
	os.Remove(y.log)
	if after := y.files(t); after != before {
		return "files changed: " + before + " to " + after
	}
	return string(ran)
}

func (y yard) files(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(y.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(strings.TrimPrefix(path, y.dir) + " ")
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			b.Write(data)
			return err
		}
		return nil
	}))
	return b.String()
}

// A script writes random commands. Its parts are such that a wrong reading of
// quotes, expansions or wrappers lets an rm through.
type script struct{ *rand.Rand }

func (s script) pick(list ...string) string { return list[s.IntN(len(list))] }

func (s script) word(depth int) string {
	if depth <= 0 {
		return s.pick("a", "b", "x", "src", "rm", "ls", "-l", "'a b'", `"$x"`, "$x", "$y", `"$@"`, "$1", "{a,b}", "{rm,a}", "*", "[ab]", `\a`, `r\m`, "''", "$'\\x72m'", "-n", "-exec", "{}", "';'", "';rm a'", "'rm a'", "'$(rm a)'", "\"$(rm a)\"", "x=rm", "1")
	}
	return s.pick(s.word(0), s.word(0), "$("+s.command(depth-1)+")", "\"$("+s.command(depth-1)+")\"", "`"+s.pick("rm a", "echo rm", "echo a")+"`", "<("+s.command(depth-1)+")", "${x:-"+s.word(0)+"}", "${x:+"+s.word(0)+"}", "${x/a/"+s.word(0)+"}", "$(("+s.pick("1", "x", "1+1", "y", "a[1]")+"))", quote(s.command(depth-1)), s.word(0)+s.word(0))
}

func (s script) words(depth int) string {
	var b strings.Builder
	for range s.IntN(4) {
		b.WriteString(" " + s.word(depth))
	}
	return b.String()
}

func (s script) command(depth int) string {
	if depth <= 0 {
		return s.pick("ls", "cat", "echo", "echo rm", "rm", "true", ":", "printf", "$x", "$y", `"$x"`, "eval", "f", "sort", "head -1", "grep a", "wc", "seq 2", "basename") + s.words(0)
	}
	d := depth - 1
	simple := s.pick("ls", "cat", "echo", "rm", "$x", "sort", "printf %s", "xargs", "xargs -I{}", "env", "env A=1", "timeout 3", "nice", "find . -name", "find . -exec", "find a -maxdepth 0 -exec", "sh -c", "bash -c", "eval", "command", "builtin", "sed", "sed -n", "awk", "test", "head", "uniq", "f", "set --", "x=rm", "x=ls", "x=$(echo rm)", "y=x", "read x", "unset x", "printf -v x", "exec", "local x=", "declare x=rm", "export x", "[ -v", "[[ -n", "let", "tr") + s.words(depth)
	return s.pick(simple, simple, simple,
		s.command(d)+"; "+s.command(d), s.command(d)+" && "+s.command(d), s.command(d)+" || "+s.command(d), s.command(d)+" | "+s.command(d),
		"( "+s.command(d)+" )", "{ "+s.command(d)+"; }", "if "+s.command(d)+"; then "+s.command(d)+"; else "+s.command(d)+"; fi",
		"for x in"+s.words(1)+"; do "+s.command(d)+"; done", "f() { "+s.command(d)+"; }", "case "+s.word(1)+" in "+s.pick("a", "*", "rm", "$x")+") "+s.command(d)+";; esac",
		"x="+s.word(1)+" "+s.command(d), "x="+s.word(1), s.command(d)+" > "+s.pick("/dev/null", "out", "$x", "&1"), s.command(d)+" 2>&1", s.command(d)+" < "+s.word(0),
		s.command(d)+" <<< "+s.word(1), s.command(d)+" <<E\n"+s.pick("$(rm a)", "rm a", "$x", "a")+"\nE\n", "while read x; do "+s.command(d)+"; break; done < a", "! "+s.command(d), "time "+s.command(d),
		"[[ "+s.word(1)+" == "+s.word(1)+" ]] && "+s.command(d), s.command(d)+" & wait")
}

// SEC-40: what a real bash does is among what was said: a text that counts as
// harmless runs no rm and changes no file.
func TestSoakOracle(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	env := Env{Dir: y.dir, Home: filepath.Join(y.dir, "src"), Project: y.dir, Files: harmlessGit{}}
	// Paths are not the point here: only what runs and writes.
	scope := Scope{Roots: []string{"/"}}
	seed := uint64(time.Now().UnixNano())
	s := script{rand.New(rand.NewPCG(seed, 1))}
	harmless, total := 0, 0
	campaign(2500, func() {
		src := s.command(1 + s.IntN(3))
		total++
		if strings.ContainsAny(src, "~") || !Read(src, env).ReadOnly(scope) {
			return
		}
		if harmless++; os.Getenv("GATELATCH_SOAK") == "" && harmless > 25 {
			return
		}
		if did := y.run(t, src); did != "" {
			t.Fatalf("seed %d: counts as harmless, but: %s\n%s", seed, did, src)
		}
	})
	if harmless < 25 {
		t.Errorf("only %d of %d texts count as harmless: the test tests nothing", harmless, total)
	}
}

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

// A form makes a text of commands (C) and words (W) that are one level simpler.
var (
	wordForms = []string{"W", "W", "$(C)", "\"$(C)\"", "`rm a`", "`echo a`", "<(C)", "${x:-W}", "${x:+W}", "${x/a/W}", "$((1))", "$((x))", "$((a[1]))", "Q", "WW"}
	lineForms = []string{
		"S", "S", "S", "S", "S", "S", "C; C", "C && C", "C || C", "C | C", "( C )", "{ C; }", "if C; then C; else C; fi", "for x in W W; do C; done", "f() { C; }", "case W in a) C;; esac",
		"case a in *) C;; esac", "case rm in $x) C;; esac", "x=W C", "x=W", "C > /dev/null", "C > out", "C > $x", "C 2>&1", "C < W", "C <<< W", "C <<E\n$(rm a)\nE\n", "C <<E\n$x\nE\n",
		"while read x; do C; break; done < a", "! C", "time C", "[[ W == W ]] && C", "C & wait",
	}
	plainWords    = strings.Split("a|b|x|src|rm|ls|-l|'a b'|\"$x\"|$x|$y|\"$@\"|$1|{a,b}|{rm,a}|*|[ab]|\\a|r\\m|''|$'\\x72m'|-n|-exec|{}|';'|';rm a'|'rm a'|'$(rm a)'|\"$(rm a)\"|x=rm|1", "|")
	plainCommands = strings.Split("ls|cat|echo|echo rm|rm|true|:|printf|$x|$y|\"$x\"|eval|f|sort|head -1|grep a|wc|seq 2|basename", "|")
	programs      = strings.Split("ls|cat|echo|rm|$x|sort|printf %s|xargs|xargs -I{}|env|env A=1|timeout 3|nice|find . -name|find . -exec|find a -maxdepth 0 -exec|sh -c|bash -c|eval|command|builtin|sed|sed -n|awk|test|head|uniq|f|set --|x=rm|x=ls|x=$(echo rm)|y=x|read x|unset x|printf -v x|exec|local x=|declare x=rm|export x|[ -v|[[ -n|let|tr", "|")
)

func (s script) word(depth int) string {
	if depth <= 0 {
		return s.pick(plainWords...)
	}
	return s.fill(s.pick(wordForms...), depth-1)
}

func (s script) command(depth int) string {
	if depth <= 0 {
		return s.pick(plainCommands...) + s.words(0)
	}
	return s.fill(s.pick(lineForms...), depth-1)
}

func (s script) words(depth int) string {
	var b strings.Builder
	for range s.IntN(4) {
		b.WriteString(" " + s.word(depth))
	}
	return b.String()
}

// fill puts commands and words in place of the capitals of a form.
func (s script) fill(form string, depth int) string {
	var b strings.Builder
	for _, c := range form {
		switch c {
		case 'C':
			b.WriteString(s.command(depth))
		case 'W':
			b.WriteString(s.word(depth))
		case 'Q':
			b.WriteString(quote(s.command(depth)))
		case 'S':
			b.WriteString(s.pick(programs...) + s.words(depth+1))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
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
	var recent []string
	campaign(2500, func() {
		src := s.command(1 + s.IntN(3))
		total++
		if strings.ContainsAny(src, "~") || !Read(src, env).ReadOnly(scope) {
			return
		}
		if harmless++; os.Getenv("GATELATCH_SOAK") == "" && harmless > 60 {
			return
		}
		recent = append(recent[max(0, len(recent)-4):], src)
		if did := y.run(t, src); did != "" { // or one before it, in the background
			t.Fatalf("seed %d: counts as harmless, but: %s\n%q", seed, did, recent)
		}
	})
	if harmless < 60 {
		t.Errorf("only %d of %d texts count as harmless: the test tests nothing", harmless, total)
	}
}

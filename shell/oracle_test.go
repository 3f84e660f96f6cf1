package shell

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// SEC-40: what a real bash does is among what was said. Unless something in the
// text could run anything, each program that runs is one of the commands, with
// these words, and each file that changes is one that is written or removed. A
// text that counts as harmless changes no file at all.
func TestSoakOracle(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	env := Env{Dir: "/project", Home: "/project/src", Project: "/project", Files: harmlessGit{}}
	scope := Scope{Roots: []string{"/"}} // what runs and writes is the point here, not where it reads
	seed := uint64(time.Now().UnixNano())
	s := script{rand.New(rand.NewPCG(seed, 1))}
	harmless, closed, ran, total := 0, 0, 0, 0
	campaign(2500, func() {
		src := s.command(1 + s.IntN(3))
		total++
		facts := Read(src, env)
		if strings.Contains(src, "~") || !foreseen(facts) {
			return
		}
		calm := facts.ReadOnly(scope)
		if closed++; calm {
			harmless++
		}
		if os.Getenv("GATELATCH_SOAK") == "" && closed > 80 && (!calm || harmless > 60) {
			return
		}
		programs, changed := y.run(t, src)
		ran += len(programs)
		for _, argv := range programs {
			if !slices.ContainsFunc(facts.Commands, func(c Simple) bool { return foretells(c.Words, argv) }) {
				t.Errorf("seed %d: nothing was said about %q\n%q\n%+v", seed, argv, src, facts.Commands)
			}
			if calm && stubs()[argv[0]] {
				t.Errorf("seed %d: counts as harmless, but runs %q\n%q", seed, argv, src)
			}
		}
		for _, path := range changed {
			if calm || !slices.ContainsFunc(facts.Effects, func(e Effect) bool { return touches(e, "/project"+path) }) {
				t.Errorf("seed %d: nothing was said about a change of %q\n%q\n%+v", seed, path, src, facts.Effects)
			}
		}
	})
	t.Logf("%d texts, %d foreseen, %d harmless, %d programs run", total, closed, harmless, ran)
	if harmless < 60 || closed < 100 || ran < 20 {
		t.Errorf("%d texts, %d foreseen, %d harmless, %d programs run: the test tests nothing", total, closed, harmless, ran)
	}
}

// The yard notes what runs and what changes, and lets nothing out.
func TestYard(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	programs, changed := y.run(t, `rm a 'b c'; echo hi > new; ls src | env -i /usr/bin/cat; command -p touch z; > /out; (exec 3<> /dev/tcp/127.0.0.1/1) && rm connected; sleep 100 & :`)
	slices.SortFunc(programs, slices.Compare[[]string])
	want := [][]string{{"cat"}, {"env", "-i", "/usr/bin/cat"}, {"ls", "src"}, {"rm", "a", "b c"}, {"touch", "z"}}
	if !slices.EqualFunc(programs, want, slices.Equal[[]string]) || !slices.Equal(changed, []string{"/new"}) {
		t.Errorf("got %q, changed %q", programs, changed)
	}
	if programs, changed := y.run(t, "cat a"); len(programs) != 1 || len(changed) != 0 {
		t.Errorf("got %q, changed %q", programs, changed)
	}
	if _, err := os.Lstat(filepath.Join(y.dir, "fs/out")); err == nil {
		t.Error("it wrote beside the project")
	}
}

// foreseen reports whether all that would run is known.
func foreseen(f *Facts) bool {
	return f.Readable() && !slices.ContainsFunc(f.Effects, func(e Effect) bool { return e.Action == Unknown || e.Action == Executes })
}

func touches(e Effect, path string) bool {
	return (e.Action == Writes || e.Action == Deletes) && (e.Path == "" || e.Path == path || e.Below && within(e.Path, path))
}

// foretells reports whether a program with these arguments is what the words
// say.
func foretells(words []WordValue, argv []string) bool {
	if len(words) == 0 {
		return len(argv) == 0
	}
	one := len(argv) > 0
	switch w := words[0]; w.Kind {
	case Fields, Glob, Listed: // any number
		return foretells(words[1:], argv) || one && foretells(words, argv[1:])
	case Const:
		one = one && argv[0] == w.Text
	case OneOf:
		one = one && slices.Contains(w.Alts, argv[0])
	case Begins:
		one = one && strings.HasPrefix(argv[0], w.Text)
	case Integer:
		one = one && (isInteger(argv[0]) || isInteger(strings.TrimPrefix(argv[0], "-")))
	default: // one word
	}
	return one && foretells(words[1:], argv[1:])
}
